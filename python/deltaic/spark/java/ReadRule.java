package @PACKAGE@;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.analysis.RelationTimeTravel;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.CreateTable;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTable;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.TableSpecBase;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;

/** Puts the plan of a Delta table's rows in the place of its name. */
final class ReadRule extends Rule {
    public TreeNode apply(TreeNode plan) { return ((LogicalPlan) plan).resolveOperatorsDown(new Reads()); }
}

final class Reads extends scala.runtime.AbstractPartialFunction {
    private static final List OPTIONS = Arrays.asList(new Object[] {"versionasof", "timestampasof"});

    public boolean isDefinedAt(Object node) {
        return node instanceof LogicalPlan
            && (isName(node) || isStream(node) || changed((LogicalPlan) node) != null);
    }

    private static boolean isName(Object node) {
        return node instanceof DataSourceV2Relation && ((DataSourceV2Relation) node).table() instanceof DeltaTable;
    }

    private static boolean isStream(Object node) {
        return node instanceof StreamingRelationV2 && ((StreamingRelationV2) node).table() instanceof DeltaTable;
    }

    /** The table that a command changes, if it is of deltaic. */
    private static String changed(LogicalPlan node) {
        LogicalPlan target = node instanceof V2WriteCommand ? (LogicalPlan) ((V2WriteCommand) node).table()
            : node instanceof DeleteFromTable || node instanceof UpdateTable || node instanceof MergeIntoTable
            ? (LogicalPlan) node.children().head() : null;
        while (target instanceof SubqueryAlias) target = ((SubqueryAlias) target).child();
        return target != null && isName(target) ? ((DataSourceV2Relation) target).table().name() : null;
    }

    public Object applyOrElse(Object node, scala.Function1 otherwise) {
        if (!isDefinedAt(node)) return otherwise.apply(node);
        String changed = changed((LogicalPlan) node);
        if (changed != null) throw DeltaCatalog.readsOnly(changed);
        if (isStream(node)) {
            StreamingRelationV2 stream = (StreamingRelationV2) node;
            LogicalPlan rows = ((DeltaTable) stream.table()).stream(stream.extraOptions());
            return under(Sequences.list(stream.output()), rows);
        }
        DataSourceV2Relation relation = (DataSourceV2Relation) node;
        for (Iterator each = relation.options().keySet().iterator(); each.hasNext();) {
            Object option = each.next();
            if (!OPTIONS.contains(option)) {
                throw new IllegalArgumentException(
                    "a name takes the options versionAsOf and timestampAsOf, not " + option
                    + ": read the path by deltaic.spark.read(spark)");
            }
        }
        List wanted = Sequences.list(relation.output());
        boolean withMetadata = wanted.size() > relation.table().schema().length();
        LogicalPlan rows = ((DeltaTable) relation.table()).plan(withMetadata);
        return under(wanted, rows);
    }

    /** A plan under the attributes of the name, so that resolved expressions stay valid. */
    private static LogicalPlan under(List wanted, LogicalPlan rows) {
        List found = Sequences.list(rows.output());
        if (found.size() != wanted.size()) {
            throw new IllegalArgumentException(
                "the options give other columns than the table has: read the path by format(\"delta\")");
        }
        List columns = new ArrayList();
        for (int index = 0; index < wanted.size(); index++) {
            Attribute column = (Attribute) wanted.get(index);
            columns.add(new Alias(
                (Attribute) found.get(index), column.name(), column.exprId(), column.qualifier(),
                scala.Option.apply(column.metadata()), Sequences.seq(Collections.emptyList())));
        }
        return new Project(Sequences.seq(columns), rows);
    }
}

/**
 * Names the catalog of delta.`path`, so that Spark does not take it for the name of a file, and refuses to create
 * tables before Spark looks for their format.
 */
final class PathRule extends Rule {
    public TreeNode apply(TreeNode plan) { return ((LogicalPlan) plan).resolveOperatorsDown(new Paths()); }
}

final class Paths extends scala.runtime.AbstractPartialFunction {
    public boolean isDefinedAt(Object node) { return named(node) != null || creates(node); }

    private static boolean creates(Object node) {
        TableSpecBase about = node instanceof CreateTable ? ((CreateTable) node).tableSpec()
            : node instanceof CreateTableAsSelect ? ((CreateTableAsSelect) node).tableSpec()
            : node instanceof ReplaceTable ? ((ReplaceTable) node).tableSpec()
            : node instanceof ReplaceTableAsSelect ? ((ReplaceTableAsSelect) node).tableSpec() : null;
        return about != null && about.provider().isDefined()
            && DeltaCatalog.isDelta((String) about.provider().get());
    }

    public Object applyOrElse(Object node, scala.Function1 otherwise) {
        if (creates(node)) throw DeltaCatalog.readsOnly("tables of the format delta");
        LogicalPlan plan = named(node);
        return plan == null ? otherwise.apply(node) : plan;
    }

    private static LogicalPlan named(Object node) {
        if (node instanceof RelationTimeTravel) {
            RelationTimeTravel at = (RelationTimeTravel) node;
            LogicalPlan relation = named(at.relation());
            return relation == null ? null : new RelationTimeTravel(relation, at.timestamp(), at.version());
        }
        if (!(node instanceof UnresolvedRelation)) return null;
        UnresolvedRelation relation = (UnresolvedRelation) node;
        List parts = new ArrayList(Sequences.list(relation.multipartIdentifier()));
        if (parts.size() != 2 || !DeltaCatalog.isPath((String) parts.get(0), (String) parts.get(1))) return null;
        parts.add(0, "spark_catalog");
        return new UnresolvedRelation(Sequences.seq(parts), relation.options(), relation.isStreaming());
    }
}
