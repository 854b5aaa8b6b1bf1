package @PACKAGE@;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.plans.LeftOuter$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Repartition;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;

/** Takes aggregates of a whole table from the log, without a filter or groups: no file is opened. */
public final class AggregateRule extends Rule {
    /** Adds the rule to a session, once. */
    public static synchronized void addTo(SparkSession session) {
        List rules = new ArrayList(Sequences.list(session.experimental().extraOptimizations()));
        for (Iterator each = rules.iterator(); each.hasNext();) {
            if (each.next() instanceof AggregateRule) return;
        }
        rules.add(new AggregateRule());
        session.experimental().extraOptimizations_$eq(Sequences.seq(rules));
    }

    public TreeNode apply(TreeNode plan) {
        try {
            return ((LogicalPlan) plan).transformDown(new Aggregates());
        } catch (RuntimeException error) {
            return plan;
        } catch (LinkageError error) {
            return plan;
        }
    }

    public String ruleName() { return "deltaic.AggregateRule"; }
}

final class Aggregates extends scala.runtime.AbstractPartialFunction {
    public boolean isDefinedAt(Object node) { return answer(node) != null; }

    public Object applyOrElse(Object node, scala.Function1 otherwise) {
        Object answer = answer(node);
        return answer == null ? otherwise.apply(node) : answer;
    }

    private static LogicalPlan answer(Object node) {
        if (!(node instanceof Aggregate)) return null;
        Aggregate aggregate = (Aggregate) node;
        if (!aggregate.groupingExpressions().isEmpty() || aggregate.aggregateExpressions().isEmpty()) return null;
        List outputs = Sequences.list(aggregate.aggregateExpressions());
        Map asked = new LinkedHashMap();
        for (Iterator each = outputs.iterator(); each.hasNext();) {
            Object output = each.next();
            if (!(output instanceof Alias) || !ask(((Alias) output).child(), aggregate.child(), asked)) return null;
        }
        SnapshotIndex index = whole(aggregate.child(), false);
        if (index == null || index.hasDeletedRows() && !asksForRowsOnly(asked)) return null;
        Map answers = index.aggregates(asked);
        return answers == null ? null : row(outputs, answers);
    }

    private static boolean asksForRowsOnly(Map asked) {
        for (Iterator each = asked.values().iterator(); each.hasNext();) {
            if (!each.next().equals(ROWS)) return false;
        }
        return true;
    }

    private static final String ROWS = "{\"of\":\"rows\"}";

    /**
     * Whether an expression consists of constants, numbers of rows, and least and greatest values of columns.
     *
     * @param asked gets what to ask for each aggregate of the expression
     */
    private static boolean ask(Expression e, LogicalPlan rows, Map asked) {
        if (e instanceof AggregateExpression) {
            String question = question((AggregateExpression) e, rows);
            if (question == null) return false;
            asked.put(e, question);
            return true;
        }
        if (e.children().isEmpty()) return e.foldable();
        for (Iterator each = Sequences.list(e.children()).iterator(); each.hasNext();) {
            if (!ask((Expression) each.next(), rows, asked)) return false;
        }
        return true;
    }

    private static String question(AggregateExpression aggregate, LogicalPlan rows) {
        if (aggregate.isDistinct() || aggregate.filter().isDefined()) return null;
        Object function = aggregate.aggregateFunction();
        if (function instanceof Count) {
            Iterator counted = Sequences.list(((TreeNode) function).children()).iterator();
            while (counted.hasNext()) {
                Object of = counted.next();
                if (!(of instanceof Literal) || ((Literal) of).value() == null) return null;
            }
            return ROWS;
        }
        if (!(function instanceof Min) && !(function instanceof Max)) return null;
        Object of = ((TreeNode) function).children().head();
        if (!(of instanceof Attribute) || !hasExactBounds(((Attribute) of).dataType())) return null;
        String column = column((Attribute) of, rows);
        String by = function instanceof Min ? "min" : "max";
        return column == null ? null : "{\"of\":\"" + by + "\",\"column\":" + FilterTree.quoted(column) + "}";
    }

    /** Whether the log has exact bounds: those of texts are shortened, and those of times rounded. */
    private static boolean hasExactBounds(DataType type) {
        return type instanceof ByteType || type instanceof ShortType || type instanceof IntegerType
            || type instanceof LongType || type instanceof DateType || type instanceof DecimalType;
    }

    /** The name in the files of a column of a plan; null if the plan computes it. */
    private static String column(Attribute of, LogicalPlan plan) {
        while (plan instanceof Project || plan instanceof Repartition) {
            if (plan instanceof Project) {
                Object found = null;
                for (Iterator each = Sequences.list(((Project) plan).projectList()).iterator(); each.hasNext();) {
                    NamedExpression output = (NamedExpression) each.next();
                    if (output.exprId().equals(of.exprId())) found = output;
                }
                if (found instanceof Alias) found = ((Alias) found).child();
                if (!(found instanceof Attribute)) return null;
                of = (Attribute) found;
            }
            plan = (LogicalPlan) plan.children().head();
        }
        return plan instanceof LogicalRelation ? of.name() : null;
    }

    /**
     * The index of a plan that has all rows of its snapshot, and no others; null for other plans.
     *
     * @param hasLeftOut whether deleted rows were left out above the plan
     */
    private static SnapshotIndex whole(LogicalPlan plan, boolean hasLeftOut) {
        if (plan instanceof Project || plan instanceof Repartition) {
            return whole((LogicalPlan) plan.children().head(), hasLeftOut);
        }
        if (plan instanceof Filter && !hasLeftOut) {
            LogicalPlan child = ((Filter) plan).child();
            while (child instanceof Project) child = (LogicalPlan) child.children().head();
            if (!(child instanceof Join) || ((Join) child).joinType() != LeftOuter$.MODULE$) return null;
            SnapshotIndex index = whole(((Join) child).left(), true);
            return index != null && index.leavesOut(((Filter) plan).condition()) ? index : null;
        }
        if (!(plan instanceof LogicalRelation)) return null;
        Object relation = ((LogicalRelation) plan).relation();
        if (!(relation instanceof HadoopFsRelation)) return null;
        Object location = ((HadoopFsRelation) relation).location();
        if (!(location instanceof SnapshotIndex)) return null;
        return ((SnapshotIndex) location).hasDeletedRows() == hasLeftOut ? (SnapshotIndex) location : null;
    }

    private static LogicalPlan row(List outputs, Map answers) {
        List attributes = new ArrayList();
        Object[] values = new Object[outputs.size()];
        for (int i = 0; i < values.length; i++) {
            Alias output = (Alias) outputs.get(i);
            Expression value = (Expression) output.child().transformDown(new ToAnswers(answers));
            if (!value.foldable()) return null;
            values[i] = value.eval(null);
            attributes.add(output.toAttribute());
        }
        InternalRow row = new GenericInternalRow(values);
        return new LocalRelation(
            Sequences.seq(attributes), Sequences.seq(java.util.Collections.singletonList(row)), false,
            scala.Option.empty());
    }
}

/** Replaces aggregates by their values. */
final class ToAnswers extends scala.runtime.AbstractPartialFunction {
    private final Map answers;

    ToAnswers(Map answers) { this.answers = answers; }

    public boolean isDefinedAt(Object node) { return node instanceof AggregateExpression; }

    public Object applyOrElse(Object node, scala.Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        DataType type = ((Expression) node).dataType();
        return new Literal(value((String) answers.get(node), type), type);
    }

    /** A value in Spark's internal form, of a whole number: days, or a decimal without its point. */
    private static Object value(String text, DataType type) {
        if (text == null) return null;
        long number = Long.parseLong(text);
        if (type instanceof LongType) return Long.valueOf(number);
        if (type instanceof IntegerType || type instanceof DateType) return Integer.valueOf(Math.toIntExact(number));
        if (type instanceof DecimalType) {
            return new Decimal().set(number, ((DecimalType) type).precision(), ((DecimalType) type).scale());
        }
        if (type instanceof ShortType && number == (short) number) return Short.valueOf((short) number);
        if (type instanceof ByteType && number == (byte) number) return Byte.valueOf((byte) number);
        throw new ArithmeticException(text + " is no " + type);
    }
}
