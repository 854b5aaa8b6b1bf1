/* Preloaded before the C library: names the steps of a verb, and kills the process at one of them or stalls it.
   STEP_FILE gets the last step that was done, and STEPS_FILE a line for each step; KILL_AT and KILL_NUMBER specify after
   which step the process is killed, and which time that comes.
   STALL_AT and STALL_EVERY specify before which step it waits, and every how many times: until the file STALL_UNTIL has
   contents, or STALL_GROWTH bytes more than before, and at least for STALL_SECONDS. STALL_FILE gets a byte for each stall.
   CLOCK_AHEAD is added to the seconds of the wall clock, STORE_AHEAD to the time of files that are written to learn the
   store's time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

/* What a path of the table is, or a file without a name; null for what no verb writes. */
static const char *kind(const char *path) {
    const char *name = strrchr(path, '/');
    if (!name)
        return NULL;
    name++;
    if (strstr(name, " (deleted)"))
        return "temporary file";
    if (strstr(path, "/_delta_log/")) {
        if (name[0] == '.' && strstr(name, ".json.") && strstr(name, ".tmp"))
            return "staged commit";
        if (strstr(name, ".crc"))
            return "checksum";
        if (strstr(name, ".checkpoint.") || strncmp(name, "_last_checkpoint", 16) == 0)
            return "checkpoint";
        return strlen(name) == 25 && strcmp(name + 20, ".json") == 0 ? "commit" : NULL;
    }
    if (strcmp(name, "_delta_log") == 0)
        return "log folder";
    if (strstr(path, "/_change_data/"))
        return "change data file";
    if (strncmp(name, "deletion_vector_", 16) == 0)
        return "deletion vector";
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

/* Held from the count of a step until the process is killed, so that STEP_FILE names the step of the kill. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int opened_from(const char *variable, int flags) {
    const char *name = getenv(variable);
    return name ? NEXT(open64)(name, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600) : -1;
}

/* Whether the process ends after this step, which is counted. */
static int is_last(const char *done, const char *what) {
    static int number, record = -1;
    char step[64];
    int length = snprintf(step, sizeof step, "%s %s\n", what, done);
    if (record < 0)
        record = opened_from("STEPS_FILE", O_APPEND);
    if (record >= 0 && NEXT(write)(record, step, length) != length)
        abort();
    step[length - 1] = 0;
    const char *wanted = getenv("KILL_AT"), *times = getenv("KILL_NUMBER");
    return wanted && strcmp(wanted, step) == 0 && ++number == (times ? atoi(times) : 1);
}

static void note(const char *done, const char *what) {
    static int file = -1;
    char step[64];
    if (file < 0)
        file = opened_from("STEP_FILE", 0);
    int length = snprintf(step, sizeof step, "%s %s", what, done);
    memset(step + length, ' ', sizeof step - length);
    if (file >= 0 && pwrite(file, step, sizeof step, 0) != sizeof step)
        abort();
}

static void reached(const char *done, const char *what) {
    if (!what)
        return;
    pthread_mutex_lock(&lock);
    note(done, what);
    if (is_last(done, what))
        kill(getpid(), SIGKILL);
    pthread_mutex_unlock(&lock);
}

static void pause_for(double seconds) {
    struct timespec left = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left)) {
    }
}

static off_t size_of(const char *path) {
    struct stat state;
    return path && stat(path, &state) == 0 ? state.st_size : 0;
}

/* Waits before a step. Some steps are done several times an append. */
static void begins(const char *doing, const char *what) {
    static atomic_int count;
    char step[64];
    const char *wanted = getenv("STALL_AT"), *every = getenv("STALL_EVERY"), *seconds = getenv("STALL_SECONDS");
    const char *until = getenv("STALL_UNTIL"), *growth = getenv("STALL_GROWTH");
    if (!what || !wanted)
        return;
    snprintf(step, sizeof step, "%s %s", what, doing);
    int times = every ? atoi(every) : 1;
    if (strcmp(wanted, step) != 0 || atomic_fetch_add(&count, 1) % times != times - 1)
        return;
    off_t awaited = growth ? size_of(until) + atoi(growth) : 1;
    int file = opened_from("STALL_FILE", O_APPEND);
    if (file >= 0) {
        if (NEXT(write)(file, ".", 1) != 1)
            abort();
        close(file);
    }
    if (seconds)
        pause_for(atof(seconds));
    /* Only a hang takes 300 seconds. */
    for (int tries = 0; until && size_of(until) < awaited; tries++) {
        if (tries == 300000)
            abort();
        pause_for(0.001);
    }
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = NEXT(clock_gettime)(clock, now);
    const char *ahead = getenv("CLOCK_AHEAD");
    if (!failed && ahead && clock == CLOCK_REALTIME)
        now->tv_sec += atol(ahead);
    return failed;
}

int statx(int folder, const char *path, int flags, unsigned mask, struct statx *state) {
    char link[64], opened[4096] = "";
    const char *ahead = getenv("STORE_AHEAD");
    int failed = NEXT(statx)(folder, path, flags, mask, state);
    if (failed || !ahead)
        return failed;
    if (!*path) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, opened, sizeof opened - 1);
        opened[length < 0 ? 0 : length] = 0;
    }
    if (strstr(*path ? path : opened, "/_delta_log/_probe-"))
        state->stx_mtime.tv_sec += atol(ahead);
    return 0;
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    int mode = flags & O_CREAT ? va_arg(more, int) : 0;
    va_end(more);
    begins(flags & O_CREAT ? "created" : "read", kind(path));
    if (flags & O_CREAT)
        reached("begun", kind(path));
    int file = NEXT(open64)(path, flags, mode);
    if (file >= 0 && flags & O_CREAT)
        reached("created", kind(path));
    return file;
}

ssize_t write(int file, const void *bytes, size_t length) {
    char path[4096];
    const char *what = kind_of_open(file, path, sizeof path);
    if (what) {
        pthread_mutex_lock(&lock);
        if (is_last("half written", what)) {
            if (NEXT(write)(file, bytes, length / 2) < 0)
                abort();
            note("half written", what);
            kill(getpid(), SIGKILL);
        }
        pthread_mutex_unlock(&lock);
    }
    begins("written", what);
    ssize_t written = NEXT(write)(file, bytes, length);
    reached("written", what);
    return written;
}

int fsync(int file) {
    char path[4096];
    const char *what = kind_of_open(file, path, sizeof path);
    begins("synced", what);
    int failed = NEXT(fsync)(file);
    reached("synced", what);
    return failed;
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    begins("named", kind(to));
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
    begins("removed", kind(path));
    int failed = NEXT(unlink)(path);
    if (!failed)
        reached("removed", kind(path));
    return failed;
}
