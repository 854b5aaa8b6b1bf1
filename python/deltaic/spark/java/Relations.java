package @PACKAGE@;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.plans.Cross$;
import org.apache.spark.sql.catalyst.plans.ExistenceJoin;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.catalyst.plans.LeftAnti$;
import org.apache.spark.sql.catalyst.plans.LeftOuter$;
import org.apache.spark.sql.catalyst.plans.LeftSemi$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** DataFrames of the files of a snapshot. */
public final class Relations {
    /**
     * The filters that Spark applies to the files of an index before anything else, as a tree; null if there are none,
     * or all are unknown.
     *
     * @param key of the index
     */
    public static String filters(Dataset rows, String key) {
        LogicalPlan plan = ((org.apache.spark.sql.classic.Dataset) rows).queryExecution().optimizedPlan();
        List conditions = new ArrayList();
        collect(plan, key, conditions);
        return FilterTree.of(conditions);
    }

    /** Whether a row that a filter below the first child leaves out adds nothing to the result. */
    private static boolean keepsFilters(LogicalPlan plan) {
        if (!(plan instanceof Join)) return plan.children().size() == 1;
        JoinType type = ((Join) plan).joinType();
        return type == LeftSemi$.MODULE$ || type == LeftAnti$.MODULE$ || type instanceof ExistenceJoin
            || type == Inner$.MODULE$ || type == Cross$.MODULE$ || type == LeftOuter$.MODULE$;
    }

    /** Whether a plan consists of the files of an index and filters on them, whose conditions are added. */
    private static boolean collect(LogicalPlan plan, String key, List conditions) {
        if (plan instanceof LogicalRelation) {
            Object relation = ((LogicalRelation) plan).relation();
            Object index = relation instanceof HadoopFsRelation ? ((HadoopFsRelation) relation).location() : null;
            return index instanceof SnapshotIndex && ((SnapshotIndex) index).key().equals(key);
        }
        if (!keepsFilters(plan)) return false;
        boolean found = collect((LogicalPlan) plan.children().head(), key, conditions);
        if (found && plan instanceof Filter) conditions.add(((Filter) plan).condition());
        return found && plan instanceof Filter;
    }

    /**
     * @param path see FileList
     * @param data the columns of the files, as JSON
     * @param values the columns of the values of each file, as JSON
     * @param deleted how the names of columns begin by which deleted rows are left out; empty if there are none
     * @param options of the Parquet format and of Hadoop's file systems
     */
    public static Dataset frame(
        SparkSession session, String key, String root, String path, int files, String data, String values,
        String deleted, Map options, Function python
    ) throws Exception {
        StructType columns = (StructType) DataType.fromJson(values);
        SnapshotIndex index = new SnapshotIndex(key, root, path, files, columns, deleted, python);
        scala.collection.immutable.Map given =
            (scala.collection.immutable.Map) scala.collection.immutable.Map$.MODULE$.empty();
        for (Iterator each = options.entrySet().iterator(); each.hasNext();) {
            Map.Entry option = (Map.Entry) each.next();
            given = (scala.collection.immutable.Map) given.updated(option.getKey(), option.getValue());
        }
        HadoopFsRelation relation = new HadoopFsRelation(
            index, columns, (StructType) DataType.fromJson(data), scala.Option.empty(), new ParquetFileFormat(),
            given, session);
        AggregateRule.addTo(session);
        return session.baseRelationToDataFrame(relation);
    }
}
