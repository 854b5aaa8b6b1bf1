package @PACKAGE@;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.execution.datasources.v2.python.PythonDataSourceV2;
import org.apache.spark.sql.execution.datasources.v2.python.PythonTable;
import org.apache.spark.sql.execution.datasources.v2.python.UserDefinedPythonDataSource;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.sources.CreatableRelationProvider;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.sources.StreamSinkProvider;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * The format "deltaic" of all sessions of the JVM, once one of them is enabled: DataFrames and streams are written by
 * deltaic, with all modes. Reading is left to the data source in Python of this name.
 */
public class FormatProvider extends PythonDataSourceV2
        implements DataSourceRegister, CreatableRelationProvider, StreamSinkProvider {
    private static final Map SOURCES = new ConcurrentHashMap();

    /** Sets the data source in Python of a format, for sessions that have not registered it, such as those of Connect. */
    public static void provide(String name, UserDefinedPythonDataSource source) { SOURCES.put(name, source); }

    public String shortName() { return "deltaic"; }

    public UserDefinedPythonDataSource source() {
        Object found = SOURCES.get(shortName());
        return found == null ? super.source() : (UserDefinedPythonDataSource) found;
    }

    public Table getTable(StructType schema, Transform[] partitioning, Map properties) {
        return new ReadTable(this, shortName(), schema);
    }

    public BaseRelation createRelation(
        SQLContext context, SaveMode mode, scala.collection.immutable.Map options, Dataset rows
    ) {
        String given = Options.json(new TreeMap(Options.ofScala(options)));
        Door.run(new Object[] {"save", context.sparkSession(), mode.toString(), given, rows});
        return new Saved(context);
    }

    public boolean supportsDataType(DataType type) { return true; }

    public Sink createSink(
        SQLContext context, scala.collection.immutable.Map options, scala.collection.immutable.Seq partitionColumns,
        OutputMode mode
    ) {
        Map given = new TreeMap(Options.ofScala(options));
        return new TableSink((SparkSession) context.sparkSession(), given, Sequences.list(partitionColumns), mode.toString());
    }
}

/** A table that Spark writes as a V1 source. */
final class ReadTable extends PythonTable {
    ReadTable(PythonDataSourceV2 source, String name, StructType schema) { super(source, name, schema); }

    public Set capabilities() { return EnumSet.of(TableCapability.BATCH_READ, TableCapability.MICRO_BATCH_READ); }
}

/** What a V1 source returns after a write; nothing reads it. */
final class Saved extends BaseRelation {
    private final SQLContext context;

    Saved(SQLContext context) { this.context = context; }

    public SQLContext sqlContext() { return context; }

    public StructType schema() { return new StructType(); }
}
