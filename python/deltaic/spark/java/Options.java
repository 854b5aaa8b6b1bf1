package @PACKAGE@;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap;

/** Options of a user, by the names that the user wrote. */
final class Options {
    static Map ofScala(scala.collection.Map options) {
        // Names of storage options and of properties are case-sensitive.
        boolean hides = options instanceof CaseInsensitiveMap;
        return scala.jdk.javaapi.CollectionConverters.asJava(
            hides ? ((CaseInsensitiveMap) options).originalMap() : options);
    }

    static String json(Map options) {
        try {
            return new ObjectMapper().writeValueAsString(options);
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException(error);
        }
    }
}
