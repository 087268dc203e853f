// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over the files of the folders that are named on the command line: the corpus
// as a test in builds without libFuzzer. Ends with 1 if there was nothing to run.
#include "fuzz.h"

#include <dirent.h>

static bool replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    struct weir_buffer content = {0};
    size_t read_bytes;
    do {
        read_bytes = fread(weir_buffer_reserve(&content, 4096), 1, 4096, file);
        content.size_bytes += read_bytes;
    } while (read_bytes != 0);
    fclose(file);
    printf("%s\n", path); // before the run: the last line names what ended it
    fflush(stdout);
    LLVMFuzzerTestOneInput((const uint8_t *)content.data, content.size_bytes);
    weir_buffer_deinit(&content);
    return true;
}

int main(int argc, char **argv)
{
    size_t file_count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (folder == NULL) {
            perror(argv[i]);
            return 1;
        }
        for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
            if (entry->d_name[0] == '.') {
                continue;
            }
            struct weir_buffer path = {0};
            weir_buffer_printf(&path, "%s/%s", argv[i], entry->d_name);
            if (!replay_file(weir_buffer_text(&path))) {
                perror(path.data);
                return 1;
            }
            file_count++;
            weir_buffer_deinit(&path);
        }
        closedir(folder);
    }
    printf("%zu inputs replayed\n", file_count);
    return file_count != 0 ? 0 : 1;
}
