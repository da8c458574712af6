/* SPDX-License-Identifier: MIT */
/* A host that loads the library by name and lets go of it again and again, while a thread that used it lives on: its thread-local destructors and the
 * engine's background thread still have code to run. EAGRE_LIBRARY says where the library is. Not linked to it. */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eagre/eagre.h"

enum { ROUNDS = 50 };

static sem_t used, may_end;

#define require(condition) ((condition) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #condition), exit(1)))

static void *look_up(void *library, const char *name)
{
    void *p = dlsym(library, name);
    require(p != NULL);
    return p;
}

/* Opens, writes (which makes the background thread), reads, closes. */
static void use(void *library)
{
    eagre_status (*open_)(const eagre_options *, eagre_db **, eagre_error *);
    eagre_status (*exec)(eagre_db *, const char *, size_t, eagre_error *);
    eagre_status (*put)(eagre_db *, const char *, const eagre_value *, uint32_t, const eagre_value *, const eagre_value *, const void *,
                        size_t, uint32_t, eagre_error *);
    eagre_status (*count)(eagre_db *, const char *, uint64_t *, eagre_error *);
    eagre_status (*close_)(eagre_db *);
    /* POSIX has dlsym give functions as pointers to void; ISO C lets them be copied only. */
    *(void **)&open_ = look_up(library, "eagre_open");
    *(void **)&exec = look_up(library, "eagre_exec");
    *(void **)&put = look_up(library, "eagre_put");
    *(void **)&count = look_up(library, "eagre_count");
    *(void **)&close_ = look_up(library, "eagre_close");
    eagre_db *db;
    uint64_t n = 0;
    require(open_(NULL, &db, NULL) == EAGRE_OK);
    require(exec(db, "CREATE ITEM a (b INTEGER) KEY INTEGER", 37, NULL) == EAGRE_OK);
    for (uint64_t i = 0; i < 200; i++) {
        eagre_value key = {.type = EAGRE_UINT, .v.u = i % 50};
        require(put(db, "a", &key, 0, NULL, NULL, NULL, 0, 0, NULL) == EAGRE_OK);
    }
    require(count(db, "a", &n, NULL) == EAGRE_OK && n == 50);
    require(close_(db) == EAGRE_OK);
}

/* Uses the library, waits until it has been let go of, ends. */
static void *outlive(void *library)
{
    use(library);
    sem_post(&used);
    sem_wait(&may_end);
    return NULL;
}

int main(void)
{
    const char *path = getenv("EAGRE_LIBRARY");
    require(path != NULL);
    sem_init(&used, 0, 0);
    sem_init(&may_end, 0, 0);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            fprintf(stderr, "%s\n", dlerror());
        require(library != NULL);
        require(pthread_create(&thread, NULL, outlive, library) == 0);
        sem_wait(&used);
        use(library);
        require(dlclose(library) == 0);
        sem_post(&may_end);
        pthread_join(thread, NULL);
    }
    usleep(250000); /* the background thread has a round more */
    printf("%d times loaded and let go of\n", ROUNDS);
    return 0;
}
