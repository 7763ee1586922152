// SPDX-License-Identifier: Apache-2.0
// `drawbridge completion bash|zsh|fish|man|markdown`: what the flag table says, for other programs to read.
#include <string.h>

#include "server/cli/completion.h"

bool completion_next(unsigned *at, enum option_command *ret_command) {
    size_t count;
    const struct command *rows = command_table(&count);
    for (; *at < OPTION_COMMAND_COUNT; (*at)++) {
        const char *name = option_command_name((enum option_command) * at);
        size_t first = strcspn(name, " ");
        for (size_t i = 0; i < count; i++)
            if (strlen(rows[i].name) == first && strncmp(rows[i].name, name, first) == 0) {
                *ret_command = (enum option_command)(*at)++;
                return true;
            }
    }
    return false;
}

const char *completion_second_word(enum option_command command) {
    const char *blank = strchr(option_command_name(command), ' ');
    return blank == NULL ? NULL : blank + 1;
}

bool completion_takes(enum option_command command, const struct option_row *row) {
    return (row->commands >> command & 1) != 0;
}

bool completion_is_choice(const char *words) {
    return strchr(words, '|') != NULL && strpbrk(words, " [") == NULL;
}

void completion_print_words(FILE *out, const char *words, char mark) {
    for (; *words != '\0'; words++) fputc(*words == '|' ? mark : *words, out);
}

static const struct {
    const char *name;
    void (*print)(FILE *out);
} forms[] = {{"bash", completion_bash},
             {"zsh", completion_zsh},
             {"fish", completion_fish},
             {"man", reference_man},
             {"markdown", reference_markdown}};

int cmd_completion(int argc, char **argv) {
    struct options options;
    int code;
    if (!options_start(&options, "completion", argc, argv, &code)) return code;
    const char *wanted = options.word_count == 1 ? options.words[0] : "";
    code = EXIT_USAGE;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp(forms[i].name, wanted) != 0) continue;
        forms[i].print(stdout);
        code = fflush(stdout) == 0 && ferror(stdout) == 0 ? EXIT_CLEAN : EXIT_UNREADABLE;
    }
    if (code == EXIT_USAGE)
        fprintf(
            stderr,
            "drawbridge completion: name one of %s\nFor this shell: source <(drawbridge completion bash)\n",
            option_command_words(OPTION_COMMAND_COMPLETION));
    options_release(&options);
    return code;
}
