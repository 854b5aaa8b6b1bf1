package @PACKAGE@;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.apache.hadoop.fs.Path;

/** What Hadoop does not do for files on local disks. */
final class LocalFiles {
    private LocalFiles() {}

    /** Makes a file and its names below a folder durable: the commit that names it must not outlive it. */
    static void sync(Path file, Path root) throws IOException {
        java.nio.file.Path place = local(file);
        sync(place, StandardOpenOption.WRITE);
        while (!place.equals(local(root))) {
            place = place.getParent();
            sync(place, StandardOpenOption.READ);
        }
    }

    private static java.nio.file.Path local(Path path) {
        return Paths.get(path.toUri().getPath(), new String[0]);
    }

    private static void sync(java.nio.file.Path place, OpenOption option) throws IOException {
        FileChannel channel = FileChannel.open(place, new OpenOption[] {option});
        try {
            channel.force(true);
        } finally {
            channel.close();
        }
    }

    /** The umask of this process, in octal; null if the system does not tell it. */
    static String umask() {
        try {
            List lines = Files.readAllLines(Paths.get("/proc/self/status", new String[0]));
            for (int i = 0; i < lines.size(); i++) {
                String line = (String) lines.get(i);
                if (line.startsWith("Umask:")) return line.substring(6).trim();
            }
        } catch (IOException error) {
            return null;
        }
        return null;
    }
}
