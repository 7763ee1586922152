// SPDX-License-Identifier: Apache-2.0
// From flags to a change of the policy, in a folder or at an API server.
#include "server/cli/policy_command.h"

#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "server/cli/cluster_config.h"
#include "server/cli/command.h"
#include "server/cli/options.h"
#include "server/operate/policy_file.h"
#include "server/operate/policy_object.h"

struct policy_run {
    struct options options;
    struct policy_change change;
    struct policy_edit edit;
    char user[POLICY_USER_BYTES];
    char where[NAME_MAX + 1]; // the file that was changed; "" at an API server
};

static int64_t wall_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const char *given_text(const struct options *options, enum option_id id) {
    return options_given(options, id) ? options_text(options, id) : NULL;
}

static void read_change(struct policy_run *run, enum policy_verb verb) {
    const struct options *options = &run->options;
    run->change = (struct policy_change){
        .verb = verb,
        .cluster = options_switch(options, OPTION_SCOPE_CLUSTER),
        .driver = given_text(options, OPTION_SCOPE_DRIVER),
        .node = given_text(options, OPTION_SCOPE_NODE),
        .namespace = given_text(options, OPTION_SCOPE_NAMESPACE),
        .reason = given_text(options, OPTION_REASON),
        .by = run->user,
        .now_ms = wall_ms(),
    };
    if (verb == POLICY_FREEZE) {
        run->change.for_ms = options_given(options, OPTION_FOR) ? options_int(options, OPTION_FOR) : 0;
        return;
    }
    run->change.from_version_set = options_given(options, OPTION_FROM_VERSION);
    if (run->change.from_version_set) run->change.from_version = options_int(options, OPTION_FROM_VERSION);
    run->change.accept = options_list(options, OPTION_ACCEPT, &run->change.accept_count);
}

// ---- in a folder

static void local_user(char ret_user[POLICY_USER_BYTES]) {
    char host[HOST_NAME_MAX + 1] = "";
    const struct passwd *entry = getpwuid(getuid());
    (void)gethostname(host, sizeof host - 1);
    if (entry != NULL)
        snprintf(ret_user, POLICY_USER_BYTES, "%.128s@%.100s", entry->pw_name, host);
    else
        snprintf(ret_user, POLICY_USER_BYTES, "uid %ld@%.100s", (long)getuid(), host);
}

// ---- at an API server

static bool change_at_server(struct policy_run *run, struct fault *fault) {
    struct kubeconfig config;
    struct api api;
    if (!cluster_config_load(&run->options, &config, fault)) return false;
    if (!api_init(&api, &config, options_int(&run->options, OPTION_REQUEST_TIMEOUT), fault)) {
        api_release(&api);
        return false;
    }
    policy_object_user(&api, run->user);
    if (run->user[0] == '\0') local_user(run->user);
    bool fine = policy_object_change(&api, &run->change, &run->edit, fault);
    api_release(&api);
    return fine;
}

static bool change(struct policy_run *run, struct fault *fault) {
    const char *feed = options_text(&run->options, OPTION_POLICY_FEED);
    if (!policy_change_check(&run->change, fault)) return false;
    if (strcmp(feed, "kube") == 0) return change_at_server(run, fault);
    if (strncmp(feed, "dir:", 4) != 0 || feed[4] == '\0')
        return fault_set(fault, FAULT_USAGE, "--feed \"%.64s\": kube or dir:FOLDER", feed);
    local_user(run->user);
    return policy_file_change(feed + 4, &run->change, &run->edit, run->where, fault);
}

// ---- what is said

static void say_freeze(const struct policy_run *run, const char *scope) {
    printf("%s is frozen until %s%s: %s\nbindings stay; to end it earlier: drawbridge resume\n", scope,
           run->edit.expires, run->edit.replaced ? " (instead of the freeze before)" : "",
           run->change.reason);
}

static void say_resume(const struct policy_run *run, const char *scope) {
    if (run->edit.lifted_count > 0) printf("%s is no longer frozen\n", scope);
    if (run->change.from_version_set)
        printf("%s: claims are let in from mapping version %lld on\n", scope,
               (long long)run->change.from_version);
    for (size_t i = 0; i < run->change.accept_count; i++)
        if (strcmp(run->change.accept[i], "all") == 0)
            printf("%s: the mappings of all bound claims are taken as they are now\n", scope);
        else
            printf("%s: the mapping of claim %s is taken as it is now\n", scope, run->change.accept[i]);
}

static void say_text(const struct policy_run *run) {
    char scope[POLICY_SCOPE_BYTES];
    policy_change_scope(&run->change, scope);
    if (run->change.verb == POLICY_FREEZE)
        say_freeze(run, scope);
    else
        say_resume(run, scope);
    if (run->edit.pruned_count > 0)
        printf("%zu freeze%s that had expired %s taken out\n", run->edit.pruned_count,
               run->edit.pruned_count == 1 ? "" : "s", run->edit.pruned_count == 1 ? "was" : "were");
    if (run->where[0] != '\0') printf("written to %s\n", run->where);
}

static bool say_json(const struct policy_run *run) {
    char scope[POLICY_SCOPE_BYTES];
    json_t *result = json_pack("{s:s, s:i, s:i, s:O, s:O}", "scope", policy_change_scope(&run->change, scope),
                               "lifted", (int)run->edit.lifted_count, "pruned", (int)run->edit.pruned_count,
                               "freezes", run->edit.freezes, "resumes", run->edit.resumes);
    bool fine = result != NULL && json_dumpf(result, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF;
    json_decref(result);
    return fine;
}

static int exit_code_of(const struct policy_run *run, const struct fault *fault) {
    switch (fault->code) {
    case FAULT_USAGE: return EXIT_USAGE;
    case FAULT_UNREACHABLE: return EXIT_UNREACHABLE;
    case FAULT_STATE: return run->change.verb == POLICY_RESUME ? EXIT_FINDINGS : EXIT_UNREADABLE;
    default: return EXIT_UNREADABLE;
    }
}

static int run_change(struct policy_run *run, const char *name) {
    struct fault fault;
    if (!change(run, &fault)) {
        fprintf(stderr, "drawbridge %s: %s\n", name, fault.text);
        return exit_code_of(run, &fault);
    }
    bool fine = true;
    if (options_choice(&run->options, OPTION_OUTPUT) == 1)
        fine = say_json(run);
    else
        say_text(run);
    policy_edit_release(&run->edit);
    return fine && fflush(stdout) == 0 ? EXIT_CLEAN : EXIT_UNREADABLE;
}

int policy_command(enum policy_verb verb, const char *name, int argc, char **argv) {
    struct policy_run run = {.user = ""};
    int code;
    if (!options_start(&run.options, name, argc, argv, &code)) return code;
    read_change(&run, verb);
    if (run.options.word_count > 0) {
        fprintf(stderr, "drawbridge %s: unexpected word \"%s\"; see --help\n", name, run.options.words[0]);
        code = EXIT_USAGE;
    } else {
        code = run_change(&run, name);
    }
    options_release(&run.options);
    return code;
}
