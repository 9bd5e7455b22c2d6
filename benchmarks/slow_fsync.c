/* A slow disk: fsync and fdatasync of a process take so many milliseconds longer ($LEXISCOPE_SLOW_FSYNC_MS). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static int slowly(const char *call, int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, call);
    const char *more = getenv("LEXISCOPE_SLOW_FSYNC_MS");
    if (more) usleep((useconds_t)(atof(more) * 1000));
    return real(fd);
}

int fsync(int fd) { return slowly("fsync", fd); }
int fdatasync(int fd) { return slowly("fdatasync", fd); }
