package @PACKAGE@;

import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.streaming.Source;
import org.apache.spark.sql.sources.StreamSourceProvider;
import org.apache.spark.sql.types.StructType;

/** Makes the sources of streams; its schema is always given, by `FormatRule`. */
public final class StreamProvider implements StreamSourceProvider {
    public scala.Tuple2 sourceSchema(
        SQLContext context, scala.Option schema, String name, scala.collection.immutable.Map options
    ) {
        return new scala.Tuple2("delta", schema.get());
    }

    public Source createSource(
        SQLContext context, String metadataPath, scala.Option schema, String name,
        scala.collection.immutable.Map options
    ) {
        SparkSession session = (SparkSession) context.sparkSession();
        String path = (String) options.get("path").get();
        return new StreamSource(session, path, (StructType) schema.get(), Options.json(Options.ofScala(options)));
    }
}
