/* Preloaded before the C library: names the steps of an append and kills the process at one of them.
   STEP_FILE gets the last step that was done; KILL_AT and KILL_NUMBER say after which step, and which time that comes.
   Compiled and used by test_kill.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

/* What a path of the table is, or null for what no append writes. */
static const char *kind(const char *path) {
    const char *name = strrchr(path, '/');
    if (!name)
        return NULL;
    name++;
    if (strstr(path, "/_delta_log/")) {
        if (name[0] == '.' && strstr(name, ".json.") && strstr(name, ".tmp"))
            return "staged commit";
        if (strstr(name, ".crc"))
            return "checksum";
        return strlen(name) == 25 && strcmp(name + 20, ".json") == 0 ? "commit" : NULL;
    }
    if (strcmp(name, "_delta_log") == 0)
        return "log folder";
    return strstr(name, ".parquet") ? "data file" : NULL;
}

static const char *kind_of_open(int file, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, size - 1);
    if (length < 0)
        return NULL;
    path[length] = 0;
    return kind(path);
}

/* Whether this is where the process ends. Each step has its own count. */
static int is_last(const char *done, const char *what) {
    static atomic_int reached;
    char step[64];
    snprintf(step, sizeof step, "%s %s", what, done);
    const char *wanted = getenv("KILL_AT"), *number = getenv("KILL_NUMBER");
    return wanted && strcmp(wanted, step) == 0 && atomic_fetch_add(&reached, 1) + 1 == (number ? atoi(number) : 1);
}

static void reached(const char *done, const char *what) {
    static atomic_int file = -1;
    const char *name = getenv("STEP_FILE");
    if (!what || !name)
        return;
    if (file < 0)
        file = NEXT(open64)(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    char step[64];
    int length = snprintf(step, sizeof step, "%s %s", what, done);
    memset(step + length, ' ', sizeof step - length);
    if (pwrite(file, step, sizeof step, 0) != sizeof step)
        abort();
    if (is_last(done, what))
        kill(getpid(), SIGKILL);
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    int mode = flags & O_CREAT ? va_arg(more, int) : 0;
    va_end(more);
    int file = NEXT(open64)(path, flags, mode);
    if (file >= 0 && flags & O_CREAT)
        reached("created", kind(path));
    return file;
}

ssize_t write(int file, const void *bytes, size_t length) {
    char path[4096];
    const char *what = kind_of_open(file, path, sizeof path);
    if (what && is_last("half written", what)) {
        if (NEXT(write)(file, bytes, length / 2) < 0)
            abort();
        reached("half written", what);
        kill(getpid(), SIGKILL);
    }
    ssize_t written = NEXT(write)(file, bytes, length);
    reached("written", what);
    return written;
}

int fsync(int file) {
    char path[4096];
    int failed = NEXT(fsync)(file);
    reached("synced", kind_of_open(file, path, sizeof path));
    return failed;
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    int failed = NEXT(linkat)(from_folder, from, to_folder, to, flags);
    if (!failed)
        reached("named", kind(to));
    return failed;
}

int link(const char *from, const char *to) {
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int rename(const char *from, const char *to) {
    int failed = NEXT(rename)(from, to);
    if (!failed)
        reached("named", kind(to));
    return failed;
}

int unlink(const char *path) {
    int failed = NEXT(unlink)(path);
    if (!failed)
        reached("removed", kind(path));
    return failed;
}
