package @PACKAGE@;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.OutputWriter;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Whether files and what is known of them are as expected of this Spark. */
public final class WriteSelfTest {
    private WriteSelfTest() {}

    /** Writes a file to a path; returns what is wrong, or null. */
    public static String run(Object session, String path, String schema, Map settings, String expected)
            throws Exception {
        StructType columns = (StructType) DataType.fromJson(schema);
        RowChecks checks = new RowChecks(columns, new HashMap());
        DataFileFormat format = new DataFileFormat(new HashMap(settings), checks, 2);
        Job job = Job.getInstance(new Configuration());
        scala.collection.immutable.Map options = FrameWrite.immutable(new HashMap());
        OutputWriter writer = format.prepareWrite((SparkSession) session, job, options, columns)
                .newInstance(path, columns, new TaskAttemptContextImpl(job.getConfiguration(), new TaskAttemptID()));
        writer.write(row(Double.valueOf(1.5), UTF8String.fromString("text"), null));
        writer.write(row(Double.valueOf(Double.NaN), null, new GenericArrayData(new Object[] {null})));
        writer.close();
        String found = new ObjectMapper().writeValueAsString(DataFileWriter.written(path));
        return found.equals(expected) ? null : "what is known of a file is " + found;
    }

    private static InternalRow row(Object number, Object text, Object list) {
        return new GenericInternalRow(new Object[] {number, text, list});
    }
}
