package @PACKAGE@;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.JobArtifactSet$;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.execution.datasources.FileFormatWriter$;
import org.apache.spark.sql.execution.datasources.FileFormatWriter.OutputSpec;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction0;

/**
 * Writes the rows of a frame by Spark's own Parquet writer to data files that no version names yet. Rows are
 * positional: the columns have the names and the field ids of the files, whatever the frame calls them.
 */
public final class FrameWrite extends AbstractFunction0 {
    private static final Set SENT = new HashSet();

    private final SparkSession session;
    private final QueryExecution execution;
    private final StructType columns;
    private final DataFileFormat format;
    private final DataFileCommitter committer;
    private final Map options;
    private final String jar;
    private final TaggedJobs jobs;

    /**
     * Prepares a write to a folder.
     *
     * columns is the JSON of the columns in the frame's order, settings are those of Parquet's writer, jar is the
     * path of these classes, and invalidText has a message for each column whose text must be valid UTF-8.
     */
    public FrameWrite(
            Object frame, String root, int randomPrefix, String columns, Map settings, Map invalidText,
            int textBytes, long mostRows, String jar) throws IOException {
        Dataset rows = (Dataset) frame;
        this.session = (SparkSession) rows.sparkSession();
        this.execution = rows.queryExecution();
        this.columns = (StructType) DataType.fromJson(columns);
        this.format = new DataFileFormat(
                new HashMap(settings), new RowChecks(this.columns, new HashMap(invalidText)), textBytes);
        this.committer = new DataFileCommitter(root, randomPrefix, settings());
        this.options = new HashMap();
        this.options.put("maxRecordsPerFile", Long.toString(mostRows));
        this.options.put("compression", (String) settings.get("parquet.compression"));
        this.jar = jar;
        this.jobs = new TaggedJobs(session.sparkContext());
    }

    /** Runs the tasks; returns the files that they wrote as JSON. After a failure `discard` must be called. */
    public String run() {
        jobs.begin();
        try {
            SQLExecution$.MODULE$.withNewExecutionId(execution, Option.apply("deltaic write"), this);
            return committer.files();
        } catch (Throwable error) {
            throw FrameWrite.unchecked(error);
        } finally {
            jobs.end();
        }
    }

    /** Cancels the write unless it has ended, waits until nothing of it runs any more, and deletes its files. */
    public void discard() throws InterruptedException, IOException {
        jobs.stop();
        jobs.awaitTasks();
        committer.deleteAll(settings());
    }

    private Configuration settings() {
        Configuration settings = session.sessionState().newHadoopConf();
        format.apply(settings);
        return settings;
    }

    private static RuntimeException unchecked(Throwable error) {
        if (error instanceof RuntimeException) return (RuntimeException) error;
        if (error instanceof Error) throw (Error) error;
        return new RuntimeException(error);
    }

    /** Is called by Spark, as the body of an execution. */
    public Object apply() {
        SparkContext context = session.sparkContext();
        send(context);
        Map before = new HashMap();
        // Tasks read these from the properties of their job.
        Object[] keys = DataFileFormat.SQL_SETTINGS.keySet().toArray();
        for (int i = 0; i < keys.length; i++) {
            String key = (String) keys[i];
            before.put(key, context.getLocalProperty(key));
            context.setLocalProperty(key, (String) DataFileFormat.SQL_SETTINGS.get(key));
        }
        try {
            return write();
        } finally {
            for (int i = 0; i < keys.length; i++) {
                context.setLocalProperty((String) keys[i], (String) before.get(keys[i]));
            }
        }
    }

    /** Sends the classes to executors, once for each set of artifacts that jobs see. */
    private void send(SparkContext context) {
        if (context.isLocal()) return;
        Object artifacts = JobArtifactSet$.MODULE$.getCurrentJobArtifactState();
        synchronized (SENT) {
            if (SENT.add(context.applicationId() + " " + artifacts)) context.addJar(jar);
        }
    }

    private Object write() {
        OutputSpec output = new OutputSpec(committer.root, immutable(new HashMap()), attributes());
        Object[] known = new Object[] {
            session, execution.executedPlan(), format, committer, output,
            session.sessionState().newHadoopConfWithOptions(immutable(options)), list(new ArrayList()),
            Option.apply(null), list(new ArrayList()), immutable(options), Integer.valueOf(0)
        };
        Object writer = FileFormatWriter$.MODULE$;
        Method[] methods = writer.getClass().getMethods();
        try {
            for (int i = 0; i < methods.length; i++) {
                if (!methods[i].getName().equals("write")) continue;
                // Later releases have further arguments, with defaults.
                Object[] all = Arrays.copyOf(known, methods[i].getParameterCount());
                for (int k = known.length; k < all.length; k++) {
                    String name = "write$default$" + (k + 1);
                    all[k] = writer.getClass().getMethod(name, new Class[0]).invoke(writer, new Object[0]);
                }
                return methods[i].invoke(writer, all);
            }
            throw new IllegalStateException("this Spark has no FileFormatWriter.write");
        } catch (InvocationTargetException error) {
            throw unchecked(error.getCause());
        } catch (ReflectiveOperationException error) {
            throw new RuntimeException(error);
        }
    }

    /** The columns of the files, as those of the plan. */
    private Seq attributes() {
        List found = new ArrayList();
        List output = CollectionConverters.asJava(execution.executedPlan().output());
        for (int i = 0; i < output.size(); i++) {
            Attribute given = (Attribute) output.get(i);
            StructField column = columns.apply(i);
            found.add(new AttributeReference(
                    column.name(), column.dataType(), column.nullable(), column.metadata(), given.exprId(),
                    list(Collections.EMPTY_LIST)));
        }
        return list(found);
    }

    private static Seq list(List given) { return CollectionConverters.asScala(given).toSeq(); }

    static scala.collection.immutable.Map immutable(Map given) {
        return scala.collection.immutable.Map$.MODULE$.from(CollectionConverters.asScala(given));
    }
}
