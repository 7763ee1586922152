// SPDX-License-Identifier: Apache-2.0
// `drawbridge explain`: what a rule is, why it is there and what to do; without an ID, the list of rules.
#include "server/cli/command.h"
#include "server/cli/options.h"
#include "server/cli/print_string.h"
#include "validators/registry/registry.h"
#include "validators/registry/rule_texts.h"

#define NEAR_ID_EDITS 4u
#define ID_COLUMNS    24

static const struct rule schema_rule = {.id = SCHEMA_RULE_ID, .action = SEVERITY_DENY, .locked = true};

static const struct rule *rule_at(size_t index) {
    size_t count;
    const struct rule *rules = registry_rules(&count);
    if (index < count) return &rules[index];
    return index == count ? &schema_rule : NULL;
}

static const struct rule *find_rule(struct text id) {
    if (text_equal(id, TEXT(SCHEMA_RULE_ID))) return &schema_rule;
    return registry_find(id);
}

static struct text text_of_rule(const struct rule *rule) {
    const char *text = rule_text(rule->id);
    return text == NULL ? (struct text){0} : text_of(text);
}

// The first line of the text, without the ID that some begin with.
static struct text summary_of(const struct rule *rule) {
    struct text text = text_of_rule(rule);
    struct text line = text_slice(text, 0, text_find(text, '\n', 0));
    struct text id = text_of(rule->id);
    bool named = text_starts_with(line, id) && line.len > id.len + 2 && line.ptr[id.len] == ':';
    return named ? text_slice(line, id.len + 2, line.len) : line;
}

static void print_rule_json(const struct rule *rule, bool with_text) {
    fputs("{\"id\":", stdout);
    print_json_string(stdout, text_of(rule->id));
    printf(",\"action\":\"%s\",\"locked\":%s,\"needsCluster\":%s,\"summary\":", severity_name(rule->action),
           rule->locked ? "true" : "false", rule->needs_view ? "true" : "false");
    print_json_string(stdout, summary_of(rule));
    if (with_text) {
        fputs(",\"text\":", stdout);
        print_json_string(stdout, text_of_rule(rule));
    }
    putchar('}');
}

static void list_rules(bool json) {
    const struct rule *rule;
    if (json) fputs("{\"rules\":[", stdout);
    for (size_t i = 0; (rule = rule_at(i)) != NULL; i++) {
        if (json) {
            fputs(i > 0 ? ",\n " : "\n ", stdout);
            print_rule_json(rule, false);
            continue;
        }
        struct text summary = summary_of(rule);
        printf("%-*s %-6s %-8s%.*s\n", ID_COLUMNS, rule->id, severity_name(rule->action),
               rule->needs_view ? "cluster" : "", TEXT_ARG(summary));
    }
    if (json)
        fputs("\n]}\n", stdout);
    else
        fputs("\nThe second column is the action when no policy says otherwise. Rules marked cluster need "
              "the state of a\n"
              "cluster and do not run in `drawbridge check`. `drawbridge explain ID` tells more.\n",
              stdout);
}

static void explain_rule(const struct rule *rule, bool json) {
    if (json) {
        print_rule_json(rule, true);
        putchar('\n');
        return;
    }
    struct text text = text_of_rule(rule);
    printf("%s\n\n%.*s\nAction: %s%s. %s\n", rule->id, TEXT_ARG(text), severity_name(rule->action),
           rule->locked ? ", locked: no policy changes it" : ", unless a policy says otherwise",
           rule->needs_view ? "Needs the state of a cluster; does not run in `drawbridge check`."
                            : "Runs in reviews and in `drawbridge check`.");
}

static int refuse(const char *id) {
    const struct rule *best = NULL;
    const struct rule *rule;
    size_t best_edits = NEAR_ID_EDITS + 1;
    for (size_t i = 0; (rule = rule_at(i)) != NULL; i++) {
        size_t edits = text_distance(text_of(id), text_of(rule->id), NEAR_ID_EDITS);
        if (edits >= best_edits) continue;
        best_edits = edits;
        best = rule;
    }
    fputs("drawbridge explain: there is no rule \"", stderr);
    print_plain_text(stderr, text_of(id));
    fputs("\"", stderr);
    if (best != NULL) fprintf(stderr, "; did you mean %s?", best->id);
    fputs("\n`drawbridge explain` lists the rules.\n", stderr);
    return EXIT_USAGE;
}

int cmd_explain(int argc, char **argv) {
    struct options options;
    int code;
    if (!options_start(&options, "explain", argc, argv, &code)) return code;
    bool json = options_choice(&options, OPTION_OUTPUT) == 1;
    code = EXIT_CLEAN;
    if (options.word_count == 0) list_rules(json);
    for (size_t i = 0; i < options.word_count; i++) {
        const struct rule *rule = find_rule(text_of(options.words[i]));
        if (rule == NULL)
            code = refuse(options.words[i]);
        else
            explain_rule(rule, json);
    }
    options_release(&options);
    if (fflush(stdout) == 0) return code;
    fprintf(stderr, "drawbridge explain: the result cannot be written\n");
    return EXIT_UNREADABLE;
}
