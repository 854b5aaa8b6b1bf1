package @PACKAGE@;

import java.util.Collections;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;

/** Tries an index of two files, before it is used for the first time. */
public final class SelfTest {
    /**
     * @param path a list of two files, whose values are 1 and NULL
     * @param python leaves out no file
     * @return what is wrong, or null
     */
    public static String run(String path, Function python) throws Exception {
        StructType values = new StructType().add("value", DataTypes.LongType);
        SnapshotIndex index = new SnapshotIndex("", "file:///", path, 2, values, "", python);
        Seq none = Sequences.seq(Collections.emptyList());
        if (index.listFiles(none, none).size() != 2) return "it does not list its files";
        Seq ofOne = index.listFiles(equal("value", 1L), equal("id", 5L));
        return ofOne.size() == 1 ? null : "filters on partition values leave " + ofOne.size() + " files";
    }

    private static Seq equal(String name, long value) {
        AttributeReference column = new AttributeReference(
            name, DataTypes.LongType, true, Metadata.empty(), NamedExpression$.MODULE$.newExprId(),
            Sequences.seq(Collections.emptyList()));
        return Sequences.seq(Collections.singletonList(new EqualTo(column, Literal.create(Long.valueOf(value), DataTypes.LongType))));
    }
}
