// SPDX-License-Identifier: Apache-2.0
// How records of one writer's schema become columns: a program, compiled once for a schema id, of
// flat instructions that read the record from its first byte to its last. The columns are the
// reader's schema; what Avro calls resolution (order, promotions, unions, defaults, aliases)
// happens when the program is made, not when it runs. Private to the Avro format. Thread: a program
// is immutable; any number of tasks may run it.
#ifndef WEIR_KAFKA_AVRO_PROGRAM_H
#define WEIR_KAFKA_AVRO_PROGRAM_H

#include "kafka/avro_schema.h"
#include "runtime/batch.h"
#include "runtime/row_error.h"
#include "runtime/types/value_error.h"

struct weir_avro_program_config {
    const struct weir_schema *schema; // the columns that are read
    // A long without logical type for a timestamp column counts units of 10^-digits seconds.
    uint32_t timestamp_digits;
    // The table has one column in all: a schema that is no record is its value.
    bool is_single_column;
    // A schema of the table itself, for what columns cannot say: defaults of fields that a writer
    // did not know, aliases. NULL: none, and what is missing is NULL.
    const struct weir_avro_type *reader;
    // The reader's enums decide which symbols there are, too. Otherwise any symbol is a text.
    bool is_reader_strict;
};

// A column, or a field of one: where the program writes. Numbered from the first column on, fields
// right behind their composite, an array's element behind its array.
struct weir_avro_slot {
    void *data;
    uint64_t *validity;
    struct weir_column *column;
    bool is_element; // of an array, or within one: a column of one row, which is used again
};

struct weir_avro_program;

// In the arena. Error (DATA): no value of this schema can become a row; the text says which column
// and why. What only some values of a union cannot become is found when they come.
enum weir_status weir_avro_program_create(struct weir_arena *arena,
                                          const struct weir_avro_program_config *config,
                                          const struct weir_avro_type *writer,
                                          struct weir_avro_program **program,
                                          struct weir_error *error);

uint32_t weir_avro_slot_count(const struct weir_schema *schema);
// columns: of the schema, with bitmaps. Elements of arrays are put into the arena.
void weir_avro_bind(const struct weir_schema *schema, struct weir_column *columns,
                    struct weir_arena *arena, struct weir_avro_slot *slots);

// Why a record gives no row.
struct weir_avro_fault {
    enum weir_row_error_reason reason;
    const char *path; // of the column or field
    size_t offset;    // in the body
    struct weir_value_error error;
};

// Decodes one body (behind the frame) into row `row` of the bound columns. Sets the bits of columns
// that have a value now and then only; those of columns that always have one are set for a run of
// rows by weir_avro_mark_rows. False: *fault says why, and bits of the row may be set.
bool weir_avro_program_run(const struct weir_avro_program *program,
                           const struct weir_avro_slot *slots, uint32_t row, struct weir_view body,
                           struct weir_arena *arena, struct weir_avro_fault *fault);

// Rows first … end - 1 came from this program.
void weir_avro_mark_rows(const struct weir_avro_program *program,
                         const struct weir_avro_slot *slots, uint32_t first, uint32_t end);

#endif
