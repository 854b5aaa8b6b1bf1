package @PACKAGE@;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.parquet.hadoop.metadata.ParquetMetadata;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.OutputWriter;

/** Writes a file by Spark's writer, and reports what the writer knows of it when it is closed. */
final class DataFileWriter extends OutputWriter {
    /** What is known of files that are closed and not yet committed, by path. */
    private static final ConcurrentHashMap WRITTEN = new ConcurrentHashMap();

    private final OutputWriter spark;
    private final RowChecks checks;
    private final long[] nulls;
    private final int textBytes;

    DataFileWriter(OutputWriter spark, RowChecks checks, int textBytes) {
        this.spark = spark;
        this.checks = checks;
        this.nulls = checks.counts();
        this.textBytes = textBytes;
    }

    static Map written(String path) { return (Map) WRITTEN.remove(path); }

    static void forget(String path) { WRITTEN.remove(path); }

    public void write(InternalRow row) {
        checks.apply(row, nulls);
        spark.write(row);
    }

    public String path() { return spark.path(); }

    public void close() {
        spark.close();
        Map file = Footer.of(footer(), textBytes);
        checks.report(nulls, file);
        WRITTEN.put(path(), file);
    }

    /** The footer, which the writer still has: its bounds are complete, those in the file may be cut off or absent. */
    private ParquetMetadata footer() {
        try {
            Object records = field(field(spark, "recordWriter"), "internalWriter");
            Method footer = records.getClass().getMethod("getFooter", new Class[0]);
            footer.setAccessible(true);
            return (ParquetMetadata) footer.invoke(records, new Object[0]);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException("the writer of Parquet files has another form", error);
        }
    }

    private static Object field(Object of, String name) throws ReflectiveOperationException {
        Field found = of.getClass().getDeclaredField(name);
        found.setAccessible(true);
        return found.get(of);
    }
}
