package @PACKAGE@;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** What each row is looked at for: text that is not UTF-8, and NULL instead of an array or a map, which footers lack. */
final class RowChecks implements Serializable {
    private final StructType columns;
    private final Map invalidText;
    /** The positions of columns that contain text. */
    private final int[] texts;
    /** The paths of arrays and maps that are in structs only, as names and as positions. */
    private final List names = new ArrayList();
    private final List positions = new ArrayList();

    /** Has a message for each column whose text must be valid. */
    RowChecks(StructType columns, Map invalidText) {
        this.columns = columns;
        this.invalidText = invalidText;
        List found = new ArrayList();
        for (int i = 0; i < columns.length(); i++) {
            if (hasText(columns.apply(i).dataType())) found.add(Integer.valueOf(i));
        }
        texts = new int[found.size()];
        for (int i = 0; i < texts.length; i++) texts[i] = ((Integer) found.get(i)).intValue();
        collect(columns, new String[0], new int[0]);
    }

    private void collect(StructType fields, String[] above, int[] place) {
        for (int i = 0; i < fields.length(); i++) {
            String[] path = (String[]) Arrays.copyOf(above, above.length + 1);
            path[above.length] = fields.apply(i).name();
            int[] position = Arrays.copyOf(place, place.length + 1);
            position[place.length] = i;
            DataType type = fields.apply(i).dataType();
            if (type instanceof StructType) {
                collect((StructType) type, path, position);
            } else if (type instanceof ArrayType || type instanceof MapType) {
                names.add(path);
                positions.add(position);
            }
        }
    }

    /** Counts of NULLs, for `apply`. */
    long[] counts() { return new long[positions.size()]; }

    void apply(InternalRow row, long[] nulls) {
        for (int i = 0; i < nulls.length; i++) {
            if (isNull(row, (int[]) positions.get(i))) nulls[i]++;
        }
        for (int i = 0; i < texts.length; i++) {
            int at = texts[i];
            if (!row.isNullAt(at) && !isValid(row, at, columns.apply(at).dataType())) {
                throw new IllegalArgumentException((String) invalidText.get(columns.apply(at).name()));
            }
        }
    }

    private boolean isNull(InternalRow row, int[] position) {
        StructType fields = columns;
        for (int depth = 0; depth < position.length; depth++) {
            int at = position[depth];
            if (row.isNullAt(at)) return true;
            if (depth == position.length - 1) return false;
            fields = (StructType) fields.apply(at).dataType();
            row = row.getStruct(at, fields.length());
        }
        return false;
    }

    /** Adds the counts to what is known of a file. */
    void report(long[] nulls, Map file) {
        for (int i = 0; i < nulls.length; i++) {
            Map column = new LinkedHashMap();
            column.put("path", Arrays.asList((String[]) names.get(i)));
            column.put("nulls", Long.valueOf(nulls[i]));
            ((List) file.get("columns")).add(column);
        }
    }

    private static boolean hasText(DataType type) {
        if (type instanceof StringType) return true;
        if (type instanceof ArrayType) return hasText(((ArrayType) type).elementType());
        if (type instanceof MapType) return hasText(((MapType) type).keyType()) || hasText(((MapType) type).valueType());
        if (!(type instanceof StructType)) return false;
        StructType fields = (StructType) type;
        for (int i = 0; i < fields.length(); i++) {
            if (hasText(fields.apply(i).dataType())) return true;
        }
        return false;
    }

    private static boolean isValid(UTF8String text) {
        Object base = text.getBaseObject();
        long at = text.getBaseOffset();
        long end = at + text.numBytes();
        // Eight bytes of ASCII at a time: most text has no others.
        while (at + 8 <= end) {
            if ((Platform.getLong(base, at) & 0x8080808080808080L) != 0) return text.isValid();
            at += 8;
        }
        while (at < end) {
            if (Platform.getByte(base, at) < 0) return text.isValid();
            at++;
        }
        return true;
    }

    /** Whether the text of a value that is not NULL is UTF-8. */
    private static boolean isValid(SpecializedGetters of, int at, DataType type) {
        if (type instanceof StringType) return RowChecks.isValid(of.getUTF8String(at));
        if (type instanceof ArrayType) return areValid(of.getArray(at), ((ArrayType) type).elementType());
        if (type instanceof MapType) {
            MapData map = of.getMap(at);
            MapType types = (MapType) type;
            return areValid(map.keyArray(), types.keyType()) && areValid(map.valueArray(), types.valueType());
        }
        StructType fields = (StructType) type;
        InternalRow row = of.getStruct(at, fields.length());
        for (int i = 0; i < fields.length(); i++) {
            DataType field = fields.apply(i).dataType();
            if (hasText(field) && !row.isNullAt(i) && !isValid(row, i, field)) return false;
        }
        return true;
    }

    private static boolean areValid(ArrayData values, DataType type) {
        if (!hasText(type)) return true;
        for (int i = 0; i < values.numElements(); i++) {
            if (!values.isNullAt(i) && !isValid(values, i, type)) return false;
        }
        return true;
    }
}
