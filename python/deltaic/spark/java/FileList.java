package @PACKAGE@;

import java.io.FileInputStream;
import java.io.InputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.ValueVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.util.ArrowUtils$;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** The files of a snapshot in their order: URI, bytes, modification time, and a row of values for each. */
final class FileList {
    private static final long BLOCK_SIZE = 128L << 20;

    final String[] uris;
    final long[] lengths;
    final long[] times;
    final InternalRow[] values;

    private FileList(int files) {
        uris = new String[files];
        lengths = new long[files];
        times = new long[files];
        values = new InternalRow[files];
    }

    /** Reads an Arrow stream: the columns uri, length and modification time, and then those of the values. */
    static FileList read(String path, int files) throws Exception {
        FileList list = new FileList(files);
        BufferAllocator allocator =
            ArrowUtils$.MODULE$.rootAllocator().newChildAllocator("deltaic files", 0L, Long.MAX_VALUE);
        InputStream stream = new FileInputStream(path);
        ArrowStreamReader reader = new ArrowStreamReader(stream, allocator);
        try {
            int first = 0;
            while (reader.loadNextBatch()) {
                first = list.add(reader.getVectorSchemaRoot(), first);
            }
            if (first != files) throw new IllegalStateException(first + " files instead of " + files);
        } finally {
            reader.close();
            allocator.close();
        }
        return list;
    }

    private int add(VectorSchemaRoot root, int first) {
        List vectors = root.getFieldVectors();
        VarCharVector uris = (VarCharVector) vectors.get(0);
        BigIntVector lengths = (BigIntVector) vectors.get(1);
        BigIntVector times = (BigIntVector) vectors.get(2);
        ColumnVector[] columns = new ColumnVector[vectors.size() - 3];
        for (int i = 0; i < columns.length; i++) {
            columns[i] = new ArrowColumnVector((ValueVector) vectors.get(i + 3));
        }
        int rows = root.getRowCount();
        ColumnarBatch batch = new ColumnarBatch(columns, rows);
        for (int row = 0; row < rows; row++) {
            this.uris[first + row] = new String(uris.get(row), java.nio.charset.StandardCharsets.UTF_8);
            this.lengths[first + row] = lengths.get(row);
            this.times[first + row] = times.get(row);
            this.values[first + row] = batch.getRow(row).copy();
        }
        return first + rows;
    }

    FileStatus status(int file) throws java.net.URISyntaxException {
        // The URIs are percent-encoded.
        Path path = new Path(new URI(uris[file]));
        return new FileStatus(lengths[file], false, 1, BLOCK_SIZE, times[file], path);
    }

    long sizeInBytes() {
        long total = 0;
        for (int i = 0; i < lengths.length; i++) total += lengths[i];
        return total;
    }
}
