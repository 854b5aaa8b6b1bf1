package @PACKAGE@;

import java.util.Iterator;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** DataFrames of the files of a snapshot. */
public final class Relations {
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
        CountRule.addTo(session);
        return session.baseRelationToDataFrame(relation);
    }
}
