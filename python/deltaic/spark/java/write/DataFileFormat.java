package @PACKAGE@;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.sql.execution.datasources.OutputWriter;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.types.StructType;

/** Spark's Parquet format, with the settings of a table whatever the session says. */
public final class DataFileFormat extends ParquetFileFormat {
    /** Settings of Spark that change files or their meaning. */
    static final Map SQL_SETTINGS = sqlSettings();
    /** Settings of Parquet's writer that Spark sets itself. */
    private static final String SUPPORT = "parquet.write.support.class";

    private final Map settings;
    private final RowChecks checks;
    private final int textBytes;

    DataFileFormat(Map settings, RowChecks checks, int textBytes) {
        this.settings = settings;
        this.checks = checks;
        this.textBytes = textBytes;
    }

    private static Map sqlSettings() {
        Map found = new HashMap();
        found.put("spark.sql.parquet.writeLegacyFormat", "false");
        found.put("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS");
        found.put("spark.sql.parquet.fieldId.write.enabled", "true");
        found.put("spark.sql.parquet.datetimeRebaseModeInWrite", "CORRECTED");
        found.put("spark.sql.parquet.int96RebaseModeInWrite", "CORRECTED");
        return Collections.unmodifiableMap(found);
    }

    public OutputWriterFactory prepareWrite(
            org.apache.spark.sql.SparkSession session, Job job, scala.collection.immutable.Map options, StructType columns) {
        OutputWriterFactory spark = super.prepareWrite(session, job, options, columns);
        apply(job.getConfiguration());
        return new DataFileWriterFactory(spark, checks, textBytes);
    }

    void apply(Configuration conf) {
        List others = new ArrayList();
        Iterator entries = conf.iterator();
        while (entries.hasNext()) {
            String key = (String) ((Map.Entry) entries.next()).getKey();
            if (key.startsWith("parquet.") && !key.equals(SUPPORT)) others.add(key);
        }
        for (int i = 0; i < others.size(); i++) conf.unset((String) others.get(i));
        set(conf, SQL_SETTINGS);
        set(conf, settings);
        // Without files of checksums beside those of the table.
        conf.set("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem");
        conf.set("fs.file.impl.disable.cache", "true");
    }

    private static void set(Configuration conf, Map settings) {
        Iterator entries = settings.entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry entry = (Map.Entry) entries.next();
            conf.set((String) entry.getKey(), (String) entry.getValue());
        }
    }
}

/** Makes writers that report what they wrote. */
final class DataFileWriterFactory extends OutputWriterFactory {
    private final OutputWriterFactory spark;
    private final RowChecks checks;
    private final int textBytes;

    DataFileWriterFactory(OutputWriterFactory spark, RowChecks checks, int textBytes) {
        this.spark = spark;
        this.checks = checks;
        this.textBytes = textBytes;
    }

    public String getFileExtension(TaskAttemptContext task) { return spark.getFileExtension(task); }

    public OutputWriter newInstance(String path, StructType columns, TaskAttemptContext task) {
        return new DataFileWriter(spark.newInstance(path, columns, task), checks, textBytes);
    }
}
