/* Stands before the C library: a commit's link is made, and the answer is that it failed. So does a network's file system
   whose answer is lost. Compiled and preloaded by test_lost_answers.py, which hears how often from a file of its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*linkat_t)(int, const char *, int, const char *, int);

/* NNNNNNNNNNNNNNNNNNNN.json and nothing else of the log. */
static int is_commit(const char *path) {
    const char *name = strrchr(path, '/');
    return name && strstr(path, "/_delta_log/") && strlen(name) == 26 && strcmp(name + 21, ".json") == 0;
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    static const int why[] = {EEXIST, EIO, ESTALE, ETIMEDOUT, EPERM, ENOENT};
    static atomic_uint lost;
    linkat_t linked = (linkat_t)dlsym(RTLD_NEXT, "linkat");
    int failed = linked(from_folder, from, to_folder, to, flags);
    if (failed || !is_commit(to))
        return failed;
    const char *record = getenv("UNHEARD_LINKS");
    int file = record ? open(record, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    if (file >= 0) {
        if (write(file, ".", 1) != 1)
            abort();
        close(file);
    }
    errno = why[atomic_fetch_add(&lost, 1) % (sizeof why / sizeof *why)];
    return -1;
}

int link(const char *from, const char *to) {
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}
