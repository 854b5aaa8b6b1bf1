package @PACKAGE@;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BinaryExpression;
import org.apache.spark.sql.catalyst.expressions.Contains;
import org.apache.spark.sql.catalyst.expressions.CreateArray;
import org.apache.spark.sql.catalyst.expressions.ElementAt;
import org.apache.spark.sql.catalyst.expressions.EndsWith;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNaN;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Like;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.StartsWith;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Filters as a tree in JSON: columns by path, literals as Spark's internal values.
 *
 * SQL text would depend on the session's time zone. A node whose meaning is not certain becomes {"op":"unknown"}.
 */
final class FilterTree {
    /** Deeper parts are unknown: the reader of the tree is recursive too. */
    private static final int DEPTH = 60;
    private static final String UNKNOWN = "{\"op\":\"unknown\"}";

    /** The conjunction of the filters; null if all are unknown. */
    static String of(List filters) {
        StringBuilder out = new StringBuilder("{\"op\":\"and\",\"parts\":[");
        boolean known = false;
        Iterator each = filters.iterator();
        while (each.hasNext()) {
            String node = node((Expression) each.next(), 0);
            if (node.equals(UNKNOWN)) continue;
            if (known) out.append(',');
            known = true;
            out.append(node);
        }
        return known ? out.append("]}").toString() : null;
    }

    private static String node(Expression e, int depth) {
        if (depth > DEPTH) return UNKNOWN;
        if (e instanceof And) return joined("and", e, depth);
        if (e instanceof Or) return joined("or", e, depth);
        if (e instanceof Not) return not(node(((Not) e).child(), depth + 1));
        if (e instanceof IsNull) return test("is_null", ((IsNull) e).child(), null);
        if (e instanceof IsNotNull) return not(test("is_null", ((IsNotNull) e).child(), null));
        if (e instanceof IsNaN) return test("is_nan", ((IsNaN) e).child(), null);
        if (e instanceof EqualTo) return compared("=", (BinaryExpression) e);
        if (e instanceof EqualNullSafe) return compared("<=>", (BinaryExpression) e);
        if (e instanceof LessThan) return compared("<", (BinaryExpression) e);
        if (e instanceof LessThanOrEqual) return compared("<=", (BinaryExpression) e);
        if (e instanceof GreaterThan) return compared(">", (BinaryExpression) e);
        if (e instanceof GreaterThanOrEqual) return compared(">=", (BinaryExpression) e);
        if (e instanceof StartsWith) return text("starts_with", (BinaryExpression) e, "");
        if (e instanceof EndsWith) return text("ends_with", (BinaryExpression) e, "");
        if (e instanceof Contains) return text("contains", (BinaryExpression) e, "");
        if (e instanceof Like) {
            String escape = ",\"escape\":" + quoted(String.valueOf(((Like) e).escapeChar()));
            return text("like", (BinaryExpression) e, escape);
        }
        if (e instanceof In) return in(((In) e).value(), Sequences.list(((In) e).list()));
        if (e instanceof InSet) return inSet((InSet) e);
        if (e instanceof Literal && e.dataType().equals(DataTypes.BooleanType)) {
            return "{\"op\":\"constant\",\"value\":" + ((Literal) e).value() + "}";
        }
        if (e.dataType().equals(DataTypes.BooleanType)) return test("column", e, null);
        return UNKNOWN;
    }

    private static String not(String inner) { return "{\"op\":\"not\",\"of\":" + inner + "}"; }

    /** AND and OR, without recursion into the same operator: Spark makes deep trees of long conditions. */
    private static String joined(String op, Expression e, int depth) {
        List parts = new ArrayList();
        ArrayDeque open = new ArrayDeque();
        open.push(e);
        while (!open.isEmpty()) {
            Expression next = (Expression) open.pop();
            if (next.getClass() == e.getClass()) {
                open.push(((BinaryExpression) next).right());
                open.push(((BinaryExpression) next).left());
            } else {
                parts.add(node(next, depth + 1));
            }
        }
        return "{\"op\":\"" + op + "\",\"parts\":[" + String.join(",", parts) + "]}";
    }

    private static String test(String op, Expression of, String more) {
        String column = column(of);
        if (column == null) return UNKNOWN;
        return "{\"op\":\"" + op + "\",\"of\":" + column + (more == null ? "" : more) + "}";
    }

    private static String text(String op, BinaryExpression e, String more) {
        String value = e.right() instanceof Literal ? literal((Literal) e.right()) : null;
        return value == null ? UNKNOWN : test(op, (Expression) e.left(), ",\"value\":" + value + more);
    }

    private static String compared(String op, BinaryExpression e) {
        String left = operand((Expression) e.left());
        String right = operand((Expression) e.right());
        if (left == null || right == null) return UNKNOWN;
        return "{\"op\":\"compare\",\"by\":\"" + op + "\",\"left\":" + left + ",\"right\":" + right + "}";
    }

    private static String in(Expression of, List list) {
        List values = new ArrayList();
        for (Iterator each = list.iterator(); each.hasNext();) {
            Object value = each.next();
            String known = value instanceof Literal ? literal((Literal) value) : null;
            if (known == null) return UNKNOWN;
            values.add(known);
        }
        return test("in", of, ",\"values\":[" + String.join(",", values) + "]");
    }

    private static String inSet(InSet e) {
        List values = new ArrayList();
        scala.collection.Iterator each = e.hset().iterator();
        while (each.hasNext()) {
            String known = value(each.next(), e.child().dataType());
            if (known == null) return UNKNOWN;
            values.add(known);
        }
        return test("in", e.child(), ",\"values\":[" + String.join(",", values) + "]");
    }

    private static String operand(Expression e) {
        return e instanceof Literal ? literal((Literal) e) : column(e);
    }

    /** A column or a field of a struct; null for anything else. */
    private static String column(Expression e) {
        String type = type(e.dataType());
        LinkedList path = new LinkedList();
        Expression at = e;
        while (at instanceof GetStructField || isWhole(at)) {
            if (isWhole(at)) {
                at = (Expression) ((ElementAt) at).left().children().head();
                continue;
            }
            GetStructField field = (GetStructField) at;
            path.addFirst(quoted(((StructType) field.child().dataType()).fields()[field.ordinal()].name()));
            at = field.child();
        }
        if (!(at instanceof AttributeReference)) return null;
        path.addFirst(quoted(((AttributeReference) at).name()));
        return "{\"column\":[" + String.join(",", path) + "],\"type\":" + quoted(type) + "}";
    }

    /** element_at(array(x), 1): how a scan has Spark read all fields of x. */
    private static boolean isWhole(Expression e) {
        if (!(e instanceof ElementAt) || !(((ElementAt) e).left() instanceof CreateArray)) return false;
        Object position = ((ElementAt) e).right() instanceof Literal ? ((Literal) ((ElementAt) e).right()).value() : null;
        return ((ElementAt) e).left().children().size() == 1 && Integer.valueOf(1).equals(position);
    }

    private static String literal(Literal literal) { return value(literal.value(), literal.dataType()); }

    /** A value in Spark's internal form; null if its type has none here. */
    private static String value(Object value, DataType dataType) {
        String type = type(dataType);
        String text = value == null ? "null" : spelled(value);
        return text == null || type.isEmpty() ? null : "{\"value\":" + text + ",\"type\":" + quoted(type) + "}";
    }

    private static String spelled(Object value) {
        if (value instanceof Boolean) return value.toString();
        if (value instanceof Byte || value instanceof Short || value instanceof Integer || value instanceof Long) {
            return quoted(value.toString());
        }
        if (value instanceof Float) return quoted(String.valueOf(Float.floatToRawIntBits(((Float) value).floatValue())));
        if (value instanceof Double) {
            return quoted(String.valueOf(Double.doubleToRawLongBits(((Double) value).doubleValue())));
        }
        if (value instanceof Decimal) return quoted(((Decimal) value).toJavaBigDecimal().unscaledValue().toString());
        if (value instanceof UTF8String) {
            // Bytes that are no UTF-8 would become another text.
            UTF8String text = (UTF8String) value;
            return UTF8String.fromString(text.toString()).equals(text) ? quoted(text.toString()) : null;
        }
        if (value instanceof byte[]) return quoted(Base64.getEncoder().encodeToString((byte[]) value));
        return null;
    }

    /** Spark's name of a primitive type; empty for other types, and for strings with a collation. */
    private static String type(DataType type) {
        boolean known = type instanceof DecimalType || type.equals(DataTypes.StringType) || type.equals(DataTypes.BooleanType)
            || type.equals(DataTypes.ByteType) || type.equals(DataTypes.ShortType)
            || type.equals(DataTypes.IntegerType) || type.equals(DataTypes.LongType)
            || type.equals(DataTypes.FloatType) || type.equals(DataTypes.DoubleType)
            || type.equals(DataTypes.BinaryType) || type.equals(DataTypes.DateType)
            || type.equals(DataTypes.TimestampType) || type.equals(DataTypes.TimestampNTZType);
        return known ? type.catalogString() : "";
    }

    static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 32 || c > 126) {
                out.append(String.format("\\u%04x", new Object[] {Integer.valueOf(c)}));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }
}
