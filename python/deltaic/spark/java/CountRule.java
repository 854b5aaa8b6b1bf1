package @PACKAGE@;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
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

/** Takes the number of rows of a whole table from the log: no file is opened. */
public final class CountRule extends Rule {
    /** Adds the rule to a session, once. */
    public static synchronized void addTo(SparkSession session) {
        List rules = new ArrayList(Sequences.list(session.experimental().extraOptimizations()));
        for (Iterator each = rules.iterator(); each.hasNext();) {
            if (each.next() instanceof CountRule) return;
        }
        rules.add(new CountRule());
        session.experimental().extraOptimizations_$eq(Sequences.seq(rules));
    }

    public TreeNode apply(TreeNode plan) {
        try {
            return ((LogicalPlan) plan).transformDown(new Counts());
        } catch (RuntimeException error) {
            return plan;
        } catch (LinkageError error) {
            return plan;
        }
    }

    public String ruleName() { return "deltaic.CountRule"; }
}

final class Counts extends scala.runtime.AbstractPartialFunction {
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
        for (Iterator each = outputs.iterator(); each.hasNext();) {
            Object output = each.next();
            if (!(output instanceof Alias) || !countsRows(((Alias) output).child())) return null;
        }
        SnapshotIndex index = whole(aggregate.child(), false);
        Long rows = index == null ? null : index.rows();
        return rows == null ? null : row(outputs, rows);
    }

    /** Whether an expression consists of count(*) and constants. */
    private static boolean countsRows(Expression e) {
        if (e instanceof AggregateExpression) {
            AggregateExpression aggregate = (AggregateExpression) e;
            if (aggregate.isDistinct() || aggregate.filter().isDefined()) return false;
            if (!(aggregate.aggregateFunction() instanceof Count)) return false;
            Iterator counted = Sequences.list(((TreeNode) aggregate.aggregateFunction()).children()).iterator();
            while (counted.hasNext()) {
                Object of = counted.next();
                if (!(of instanceof Literal) || ((Literal) of).value() == null) return false;
            }
            return true;
        }
        if (e.children().isEmpty()) return e.foldable();
        for (Iterator each = Sequences.list(e.children()).iterator(); each.hasNext();) {
            if (!countsRows((Expression) each.next())) return false;
        }
        return true;
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

    private static LogicalPlan row(List outputs, Long rows) {
        List attributes = new ArrayList();
        Object[] values = new Object[outputs.size()];
        for (int i = 0; i < values.length; i++) {
            Alias output = (Alias) outputs.get(i);
            Expression value = (Expression) output.child().transformDown(new ToNumber(rows));
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

final class ToNumber extends scala.runtime.AbstractPartialFunction {
    private final Long rows;

    ToNumber(Long rows) { this.rows = rows; }

    public boolean isDefinedAt(Object node) { return node instanceof AggregateExpression; }

    public Object applyOrElse(Object node, scala.Function1 otherwise) {
        return isDefinedAt(node) ? Literal.create(rows, ((Expression) node).dataType()) : otherwise.apply(node);
    }
}
