/* Simulates a power cut: what was synced is copied into a folder that stands for the disk.

   At each fsync or fdatasync of a file in $LEXISCOPE_SHADOW_OF, its content at that moment is copied into
   $LEXISCOPE_SHADOW under its own name, before the call returns; at a sync of the folder itself, files that it no longer
   has go from the copy too. What was written but never synced is not in the copy:
   it is what a machine without power would have lost. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void copy(int from, const char *name, const char *shadow) {
    char half[4096], whole[4096], piece[65536];
    snprintf(half, sizeof half, "%s/.half", shadow);
    snprintf(whole, sizeof whole, "%s/%s", shadow, name);
    int to = open(half, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (to < 0) abort();
    off_t at = 0;
    ssize_t n;
    while ((n = pread(from, piece, sizeof piece, at)) > 0) {
        if (write(to, piece, (size_t)n) != n) abort();
        at += n;
    }
    if (n < 0) abort();
    close(to);
    /* a kill in the middle of copying leaves the old content: the sync had not returned */
    if (rename(half, whole) != 0) abort();
}

/* The names of a folder are on the disk once the folder is synced: a journal that was deleted before is gone. */
static void forget_deleted(const char *watched, const char *shadow) {
    DIR *folder = opendir(shadow);
    struct dirent *entry;
    char there[4096], here[4096];
    while (folder && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.') continue;
        snprintf(there, sizeof there, "%s%s", watched, entry->d_name);
        snprintf(here, sizeof here, "%s/%s", shadow, entry->d_name);
        if (access(there, F_OK) != 0) unlink(here);
    }
    if (folder) closedir(folder);
}

static void remember(int fd) {
    const char *shadow = getenv("LEXISCOPE_SHADOW"), *watched = getenv("LEXISCOPE_SHADOW_OF");
    char link[64], path[4096];
    struct stat found;
    if (!shadow || !watched || fstat(fd, &found) != 0) return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return;
    path[n] = 0;
    if (S_ISDIR(found.st_mode)) {
        if (strlen(watched) == (size_t)n + 1 && strncmp(path, watched, (size_t)n) == 0) forget_deleted(watched, shadow);
        return;
    }
    if (!S_ISREG(found.st_mode)) return;
    if (strncmp(path, watched, strlen(watched)) != 0) return;
    /* read through the same descriptor: closing another one would drop the process's locks on the file */
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) return;
    copy(fd, strrchr(path, '/') + 1, shadow);
}

static int synced(const char *call, int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, call);
    pthread_mutex_lock(&turn);
    int failed = real(fd);
    if (failed == 0) remember(fd);
    pthread_mutex_unlock(&turn);
    return failed;
}

int fsync(int fd) { return synced("fsync", fd); }
int fdatasync(int fd) { return synced("fdatasync", fd); }
