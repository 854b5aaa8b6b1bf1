package @PACKAGE@;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.metadata.ParquetMetadata;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;

/** What a footer says of a file: the number of rows, and the NULLs and bounds of its columns. */
final class Footer {
    private Footer() {}

    /** Returns values that are JSON; bounds are in Parquet's plain encoding, text at most so many bytes long. */
    static Map of(ParquetMetadata footer, int textBytes) {
        long rows = 0;
        Map all = new LinkedHashMap();
        Map types = new HashMap();
        List groups = footer.getBlocks();
        for (int g = 0; g < groups.size(); g++) {
            BlockMetaData group = (BlockMetaData) groups.get(g);
            rows += group.getRowCount();
            List chunks = group.getColumns();
            for (int c = 0; c < chunks.size(); c++) {
                ColumnChunkMetaData chunk = (ColumnChunkMetaData) chunks.get(c);
                List path = Arrays.asList(chunk.getPath().toArray());
                Statistics before = (Statistics) all.get(path);
                if (before == null) {
                    all.put(path, chunk.getStatistics().copy());
                    types.put(path, chunk.getPrimitiveType());
                } else {
                    before.mergeStatistics(chunk.getStatistics());
                }
            }
        }
        List columns = new ArrayList();
        Object[] paths = all.keySet().toArray();
        for (int i = 0; i < paths.length; i++) {
            columns.add(column((List) paths[i], (Statistics) all.get(paths[i]), (PrimitiveType) types.get(paths[i]), textBytes));
        }
        Map file = new LinkedHashMap();
        file.put("rows", Long.valueOf(rows));
        file.put("columns", columns);
        return file;
    }

    private static Map column(List path, Statistics known, PrimitiveType type, int textBytes) {
        Map column = new LinkedHashMap();
        column.put("path", path);
        column.put("nulls", known.isNumNullsSet() ? Long.valueOf(known.getNumNulls()) : null);
        if (known.hasNonNullValue() && hasBounds(type)) {
            int most = isText(type) ? textBytes : Integer.MAX_VALUE;
            column.put("min", bytes(known.getMinBytes(), most));
            column.put("max", bytes(known.getMaxBytes(), most));
        }
        return column;
    }

    private static boolean isText(PrimitiveType type) {
        return type.getLogicalTypeAnnotation() instanceof LogicalTypeAnnotation.StringLogicalTypeAnnotation;
    }

    private static boolean hasBounds(PrimitiveType type) {
        PrimitiveTypeName name = type.getPrimitiveTypeName();
        if (name == PrimitiveTypeName.INT96) return false;
        if (name != PrimitiveTypeName.BINARY && name != PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY) return true;
        return isText(type)
                || type.getLogicalTypeAnnotation() instanceof LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
    }

    private static String bytes(byte[] value, int most) {
        byte[] kept = value.length <= most ? value : Arrays.copyOf(value, most);
        return Base64.getEncoder().encodeToString(kept);
    }
}
