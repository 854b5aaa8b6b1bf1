package @PACKAGE@;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage;
import org.apache.spark.internal.io.FileNameSpec;
import scala.Option;

/**
 * Gives files their final names, which are unique. The driver knows only the files of the attempts that it
 * accepted, from their messages: nothing is renamed, and no attempt writes a row twice.
 */
public final class DataFileCommitter extends FileCommitProtocol implements Serializable {
    // Lowercase only: some file systems ignore case.
    private static final String SIGNS = "abcdefghijklmnopqrstuvwxyz234567";

    final String root;
    /** A part of the names of all files of the write. */
    private final String id = UUID.randomUUID().toString();
    private final int randomPrefix;
    /** Whether the write creates the folder of the table. */
    private final boolean isNew;
    /** Of a task: the paths of its files. */
    private transient List paths;
    /** Of the driver: the files of accepted attempts, as JSON. */
    private transient String files;

    DataFileCommitter(String root, int randomPrefix, Configuration settings) throws IOException {
        this.root = root;
        this.randomPrefix = randomPrefix;
        Path table = new Path(root);
        this.isNew = !table.getFileSystem(settings).exists(table);
    }

    /** The files of accepted attempts, as JSON. */
    String files() { return files; }

    public void setupJob(JobContext job) {}

    public void commitJob(JobContext job, scala.collection.immutable.Seq messages) {
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < messages.length(); i++) {
            String ofTask = (String) ((TaskCommitMessage) messages.apply(i)).obj();
            if (ofTask.isEmpty()) continue;
            if (text.length() > 1) text.append(",");
            text.append(ofTask);
        }
        files = text.append("]").toString();
    }

    /** Tasks may still run: `deleteAll` deletes the files later. */
    public void abortJob(JobContext job) {}

    /** Deletes the files of all tasks, when none runs any more; and the folders of a table that does not exist. */
    void deleteAll(Configuration settings) throws IOException {
        Path table = new Path(root);
        FileSystem store = table.getFileSystem(settings);
        if (!store.exists(table)) return;
        if (randomPrefix == 0) {
            deleteIn(store, table);
        } else {
            RemoteIterator folders = store.listStatusIterator(table);
            while (folders.hasNext()) {
                Path folder = ((FileStatus) folders.next()).getPath();
                if (folder.getName().length() == randomPrefix) deleteIn(store, folder);
            }
        }
        if (isNew) deleteEmpty(store, table);
    }

    private void deleteIn(FileSystem store, Path folder) throws IOException {
        RemoteIterator files = store.listStatusIterator(folder);
        while (files.hasNext()) {
            Path file = ((FileStatus) files.next()).getPath();
            if (file.getName().contains(id)) store.delete(file, false);
        }
        if (isNew) deleteEmpty(store, folder);
    }

    private static void deleteEmpty(FileSystem store, Path folder) throws IOException {
        if (!store.listStatusIterator(folder).hasNext()) store.delete(folder, false);
    }

    public void setupTask(TaskAttemptContext task) {
        paths = new ArrayList();
        String mask = LocalFiles.umask();
        // Hadoop's default is not that of the process.
        if (mask != null) task.getConfiguration().set("fs.permissions.umask-mode", mask);
    }

    public String newTaskTempFile(TaskAttemptContext task, Option folder, String suffix) {
        return newTaskTempFile(task, folder, new FileNameSpec("", suffix));
    }

    public String newTaskTempFile(TaskAttemptContext task, Option folder, FileNameSpec name) {
        Object number = Integer.valueOf(task.getTaskAttemptID().getTaskID().getId());
        // Spark numbers the attempts of an application.
        Object attempt = Integer.valueOf(task.getTaskAttemptID().getId());
        String file = String.format("part-%05d-%s-%d", new Object[] {number, id, attempt}) + name.suffix();
        String path = root + "/" + folder() + file;
        paths.add(path);
        return path;
    }

    private String folder() {
        if (randomPrefix == 0) return "";
        SecureRandom chance = new SecureRandom();
        StringBuilder name = new StringBuilder();
        for (int i = 0; i < randomPrefix; i++) name.append(SIGNS.charAt(chance.nextInt(SIGNS.length())));
        return name.append("/").toString();
    }

    public String newTaskTempFileAbsPath(TaskAttemptContext task, String folder, String suffix) {
        throw new UnsupportedOperationException("files outside of the table's folder");
    }

    public String newTaskTempFileAbsPath(TaskAttemptContext task, String folder, FileNameSpec name) {
        throw new UnsupportedOperationException("files outside of the table's folder");
    }

    public TaskCommitMessage commitTask(TaskAttemptContext task) {
        StringBuilder text = new StringBuilder();
        try {
            for (int i = 0; i < paths.size(); i++) {
                String path = (String) paths.get(i);
                Map file = DataFileWriter.written(path);
                if (((Long) file.get("rows")).longValue() == 0) {
                    // Spark's first task always writes a file.
                    delete(path, task.getConfiguration());
                    continue;
                }
                Path place = new Path(path);
                LocalFiles.sync(place, new Path(root));
                FileStatus status = place.getFileSystem(task.getConfiguration()).getFileStatus(place);
                file.put("path", path.substring(root.length() + 1));
                file.put("size", Long.valueOf(status.getLen()));
                file.put("modification_time", Long.valueOf(status.getModificationTime()));
                if (text.length() > 0) text.append(",");
                text.append(new ObjectMapper().writeValueAsString(file));
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return new TaskCommitMessage(text.toString());
    }

    public void abortTask(TaskAttemptContext task) {
        for (int i = 0; i < paths.size(); i++) {
            String path = (String) paths.get(i);
            DataFileWriter.forget(path);
            delete(path, task.getConfiguration());
        }
    }

    /** A file that cannot be deleted remains as an unreferenced file. */
    private static void delete(String path, Configuration settings) {
        try {
            Path place = new Path(path);
            place.getFileSystem(settings).delete(place, false);
        } catch (IOException error) {
            // VACUUM deletes it.
        }
    }
}
