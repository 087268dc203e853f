// SPDX-License-Identifier: Apache-2.0
// See avro_schema.h. One walk over the JSON text builds the tree. A name that is used inside its
// own definition would make a tree without end and is refused. Nothing here trusts the text: depth
// and size are bounded before anything walks the tree by recursion.
#include "kafka/avro_default.h"
#include "runtime/base/assert.h"

#include <avro.h>
#include <stdlib.h>

enum { BRANCHES_MAX = 1024, BYTES_SATURATED = 1 << 30 };

struct named {
    struct weir_avro_type *type;
    bool is_open; // its definition is not complete
    struct named *next;
};

struct parser {
    struct weir_arena *arena;
    struct named *names; // newest first
    struct weir_error *error;
};

// Where in the schema: names of fields and types, from the outside in.
struct place {
    const struct place *outer;
    const char *name;
    const char *space; // the namespace that names without one are in; "" for none
    uint32_t depth;
};

static const struct {
    const char *name;
    enum weir_avro_kind kind;
    uint32_t least_bytes;
    bool has_variable_bytes;
} primitives[] = {
    {"null", WEIR_AVRO_NULL, 0, false},   {"boolean", WEIR_AVRO_BOOLEAN, 1, false},
    {"int", WEIR_AVRO_INT, 1, true},      {"long", WEIR_AVRO_LONG, 1, true},
    {"float", WEIR_AVRO_FLOAT, 4, false}, {"double", WEIR_AVRO_DOUBLE, 8, false},
    {"bytes", WEIR_AVRO_BYTES, 1, true},  {"string", WEIR_AVRO_STRING, 1, true},
};

enum { PRIMITIVE_COUNT = sizeof primitives / sizeof primitives[0] };

static void append_path(const struct place *place, struct weir_buffer *out)
{
    if (place == NULL || place->name == NULL) {
        return;
    }
    append_path(place->outer, out);
    weir_buffer_printf(out, "%s%s", out->size_bytes == 0 ? "" : ".", place->name);
}

__attribute__((format(printf, 3, 4))) static enum weir_status
refuse(struct parser *parser, const struct place *place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    weir_error_set_va(parser->error, WEIR_DOMAIN_DATA, WEIR_ACTION_FAIL, format, args);
    va_end(args);
    struct weir_buffer path = {0};
    append_path(place, &path);
    if (path.size_bytes != 0) {
        weir_error_context(parser->error, "%.200s", weir_buffer_text(&path));
    }
    weir_buffer_deinit(&path);
    return WEIR_ERROR;
}

static const char *text_member(yyjson_val *object, const char *name)
{
    return yyjson_get_str(yyjson_obj_get(object, name));
}

static bool is_one_of(const char *text, const char *a, const char *b)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0;
}

// --- names -----------------------------------------------------------------------------------

static const char *full_name(struct parser *parser, const char *space, const char *name)
{
    if (strchr(name, '.') != NULL || space[0] == '\0') {
        return weir_arena_strdup(parser->arena, name[0] == '.' ? name + 1 : name);
    }
    return weir_arena_printf(parser->arena, "%s.%s", space, name);
}

static struct named *find_name(const struct parser *parser, const char *name)
{
    for (struct named *named = parser->names; named != NULL; named = named->next) {
        if (strcmp(named->type->name, name) == 0) {
            return named;
        }
    }
    return NULL;
}

static const char *space_of(struct parser *parser, const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot == NULL ? "" : weir_arena_printf(parser->arena, "%.*s", (int)(dot - name), name);
}

static const char *const *read_aliases(struct parser *parser, yyjson_val *object, const char *space,
                                       uint32_t *count)
{
    yyjson_val *list = yyjson_obj_get(object, "aliases");
    const char **aliases =
        weir_arena_alloc(parser->arena, (yyjson_arr_size(list) + 1) * sizeof *aliases);
    *count = 0;
    size_t idx;
    size_t max;
    yyjson_val *alias;
    yyjson_arr_foreach(list, idx, max, alias)
    {
        if (yyjson_is_str(alias)) {
            aliases[(*count)++] = full_name(parser, space, yyjson_get_str(alias));
        }
    }
    return aliases;
}

// --- sizes -----------------------------------------------------------------------------------

static uint32_t saturated(uint64_t size_bytes)
{
    return size_bytes < BYTES_SATURATED ? (uint32_t)size_bytes : BYTES_SATURATED;
}

// Takes a type into account that `type` holds.
static void hold(struct weir_avro_type *type, const struct weir_avro_type *held)
{
    if (type->depth < held->depth + 1) {
        type->depth = held->depth + 1;
    }
    uint64_t nodes = (uint64_t)type->node_count + held->node_count;
    type->node_count = nodes > WEIR_AVRO_NODES_MAX ? WEIR_AVRO_NODES_MAX + 1 : (uint32_t)nodes;
}

static enum weir_status check_size(struct parser *parser, const struct place *place,
                                   const struct weir_avro_type *type)
{
    if (type->depth > WEIR_AVRO_DEPTH_MAX) {
        return refuse(parser, place, "types are nested more than %d deep", WEIR_AVRO_DEPTH_MAX);
    }
    if (type->node_count > WEIR_AVRO_NODES_MAX) {
        return refuse(parser, place,
                      "the schema has more than %d types with every name written "
                      "out",
                      WEIR_AVRO_NODES_MAX);
    }
    return WEIR_OK;
}

// --- logical types ---------------------------------------------------------------------------

// Decimal digits that any signed number of so many bytes can hold.
static uint32_t digits_of_bytes(uint32_t size_bytes)
{
    return size_bytes == 0 ? 0 : (uint32_t)((8.0 * size_bytes - 1) * 0.30102999566398120);
}

static bool is_decimal(const struct weir_avro_type *type, yyjson_val *object, uint32_t *precision,
                       uint32_t *scale)
{
    yyjson_val *digits = yyjson_obj_get(object, "precision");
    yyjson_val *fraction = yyjson_obj_get(object, "scale");
    if ((type->kind != WEIR_AVRO_BYTES && type->kind != WEIR_AVRO_FIXED) ||
        !yyjson_is_int(digits) || (fraction != NULL && !yyjson_is_int(fraction))) {
        return false;
    }
    int64_t p = yyjson_get_sint(digits);
    int64_t s = fraction != NULL ? yyjson_get_sint(fraction) : 0;
    if (p < 1 || p > 1000000 || s < 0 || s > p || s > 16383 ||
        (type->kind == WEIR_AVRO_FIXED && p > digits_of_bytes(type->size_bytes))) {
        return false;
    }
    *precision = (uint32_t)p;
    *scale = (uint32_t)s;
    return true;
}

static void read_logical(struct weir_avro_type *type, yyjson_val *object)
{
    static const struct {
        const char *name;
        enum weir_avro_kind kind;
        enum weir_avro_logical logical;
    } known[] = {
        {"date", WEIR_AVRO_INT, WEIR_AVRO_DATE},
        {"time-millis", WEIR_AVRO_INT, WEIR_AVRO_TIME_MS},
        {"time-micros", WEIR_AVRO_LONG, WEIR_AVRO_TIME_US},
        {"timestamp-millis", WEIR_AVRO_LONG, WEIR_AVRO_TIMESTAMP_MS},
        {"timestamp-micros", WEIR_AVRO_LONG, WEIR_AVRO_TIMESTAMP_US},
        {"local-timestamp-millis", WEIR_AVRO_LONG, WEIR_AVRO_LOCAL_TIMESTAMP_MS},
        {"local-timestamp-micros", WEIR_AVRO_LONG, WEIR_AVRO_LOCAL_TIMESTAMP_US},
        {"uuid", WEIR_AVRO_STRING, WEIR_AVRO_UUID},
    };
    const char *name = text_member(object, "logicalType");
    if (name == NULL) {
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) == 0 && type->kind == known[i].kind) {
            type->logical = known[i].logical;
        }
    }
    if (strcmp(name, "uuid") == 0 && type->kind == WEIR_AVRO_FIXED && type->size_bytes == 16) {
        type->logical = WEIR_AVRO_UUID;
    }
    if (strcmp(name, "duration") == 0 && type->kind == WEIR_AVRO_FIXED && type->size_bytes == 12) {
        type->logical = WEIR_AVRO_DURATION;
    }
    if (strcmp(name, "decimal") == 0 && is_decimal(type, object, &type->precision, &type->scale)) {
        type->logical = WEIR_AVRO_DECIMAL;
    }
}

// --- types -----------------------------------------------------------------------------------

static enum weir_status parse_type(struct parser *parser, yyjson_val *value,
                                   const struct place *place, const struct weir_avro_type **out);

static struct weir_avro_type *new_type(struct parser *parser, enum weir_avro_kind kind)
{
    struct weir_avro_type *type = weir_arena_alloc_zero(parser->arena, sizeof *type);
    type->kind = kind;
    type->default_symbol = -1;
    type->depth = 1;
    type->node_count = 1;
    return type;
}

static struct weir_avro_type *new_primitive(struct parser *parser, const char *name)
{
    for (uint32_t i = 0; i < PRIMITIVE_COUNT; i++) {
        if (strcmp(primitives[i].name, name) == 0) {
            struct weir_avro_type *type = new_type(parser, primitives[i].kind);
            type->least_bytes = primitives[i].least_bytes;
            type->has_variable_bytes = primitives[i].has_variable_bytes;
            return type;
        }
    }
    return NULL;
}

static enum weir_status parse_name(struct parser *parser, const char *name,
                                   const struct place *place, const struct weir_avro_type **out)
{
    *out = new_primitive(parser, name);
    if (*out != NULL) {
        return WEIR_OK;
    }
    const struct named *named = find_name(parser, full_name(parser, place->space, name));
    named = named != NULL ? named : find_name(parser, name);
    if (named == NULL) {
        return refuse(parser, place, "type \"%.200s\" is not defined", name);
    }
    if (named->is_open) {
        return refuse(parser, place,
                      "record %.200s refers to itself: recursive types cannot become columns",
                      named->type->name);
    }
    *out = named->type;
    return WEIR_OK;
}

static enum weir_status parse_union(struct parser *parser, yyjson_val *list,
                                    const struct place *place, const struct weir_avro_type **out)
{
    struct weir_avro_type *type = new_type(parser, WEIR_AVRO_UNION);
    size_t count = yyjson_arr_size(list);
    if (count == 0 || count > BRANCHES_MAX) {
        return refuse(parser, place, "a union has from 1 to %d branches, this one %zu",
                      BRANCHES_MAX, count);
    }
    const struct weir_avro_type **branches =
        weir_arena_alloc(parser->arena, count * sizeof *branches);
    type->branches = branches;
    type->has_variable_bytes = true;
    uint32_t least_bytes = BYTES_SATURATED;
    size_t idx;
    size_t max;
    yyjson_val *value;
    yyjson_arr_foreach(list, idx, max, value)
    {
        const struct weir_avro_type *branch;
        if (parse_type(parser, value, place, &branch) != WEIR_OK) {
            return WEIR_ERROR;
        }
        if (branch->kind == WEIR_AVRO_UNION) {
            return refuse(parser, place, "a union is a branch of a union");
        }
        for (uint32_t i = 0; i < type->branch_count; i++) {
            if (branches[i] == branch ||
                (branches[i]->kind == branch->kind && branch->name == NULL)) {
                return refuse(parser, place, "a union has two branches of one type: %s",
                              weir_avro_type_name(branch, parser->arena));
            }
        }
        branches[type->branch_count++] = branch;
        least_bytes = branch->least_bytes < least_bytes ? branch->least_bytes : least_bytes;
        hold(type, branch);
    }
    type->least_bytes = saturated((uint64_t)least_bytes + 1);
    *out = type;
    return check_size(parser, place, type);
}

static enum weir_status parse_fields(struct parser *parser, yyjson_val *list,
                                     const struct place *place, struct weir_avro_type *record)
{
    struct weir_avro_field *fields =
        weir_arena_alloc_zero(parser->arena, (yyjson_arr_size(list) + 1) * sizeof *fields);
    record->fields = fields;
    uint64_t least_bytes = 0;
    size_t idx;
    size_t max;
    yyjson_val *value;
    yyjson_arr_foreach(list, idx, max, value)
    {
        struct weir_avro_field *field = &fields[record->field_count];
        const char *name = text_member(value, "name");
        yyjson_val *type = yyjson_obj_get(value, "type");
        if (name == NULL || type == NULL) {
            return refuse(parser, place, "a field has no %s", name == NULL ? "name" : "type");
        }
        for (uint32_t i = 0; i < record->field_count; i++) {
            if (strcmp(fields[i].name, name) == 0) {
                return refuse(parser, place, "field \"%.200s\" is defined twice", name);
            }
        }
        struct place inner = {.outer = place,
                              .name = weir_arena_strdup(parser->arena, name),
                              .space = place->space,
                              .depth = place->depth};
        field->name = inner.name;
        field->aliases = read_aliases(parser, value, "", &field->alias_count);
        if (parse_type(parser, type, &inner, &field->type) != WEIR_OK) {
            return WEIR_ERROR;
        }
        yyjson_val *given = yyjson_obj_get(value, "default");
        if (given != NULL) {
            struct weir_buffer bytes = {0};
            if (weir_avro_default_append(field->type, given, &bytes)) {
                weir_buffer_reserve(&bytes, 1); // a default of no bytes is there all the same
                field->default_bytes = weir_arena_copy(
                    parser->arena, (struct weir_view){bytes.data, bytes.size_bytes});
            }
            weir_buffer_deinit(&bytes);
        }
        record->field_count++;
        least_bytes += field->type->least_bytes;
        record->has_variable_bytes |= field->type->has_variable_bytes;
        hold(record, field->type);
    }
    record->least_bytes = saturated(least_bytes);
    return WEIR_OK;
}

static enum weir_status parse_symbols(struct parser *parser, yyjson_val *object,
                                      const struct place *place, struct weir_avro_type *type)
{
    yyjson_val *list = yyjson_obj_get(object, "symbols");
    const char *of_default = text_member(object, "default");
    struct weir_view *symbols =
        weir_arena_alloc(parser->arena, (yyjson_arr_size(list) + 1) * sizeof *symbols);
    type->symbols = symbols;
    size_t idx;
    size_t max;
    yyjson_val *symbol;
    yyjson_arr_foreach(list, idx, max, symbol)
    {
        if (!yyjson_is_str(symbol)) {
            return refuse(parser, place, "a symbol is no string");
        }
        if (of_default != NULL && strcmp(of_default, yyjson_get_str(symbol)) == 0) {
            type->default_symbol = (int32_t)type->symbol_count;
        }
        symbols[type->symbol_count++] =
            weir_view_of(weir_arena_strdup(parser->arena, yyjson_get_str(symbol)));
    }
    if (type->symbol_count == 0) {
        return refuse(parser, place, "an enum has no symbols");
    }
    type->least_bytes = 1;
    type->has_variable_bytes = true;
    return WEIR_OK;
}

static enum weir_status parse_size(struct parser *parser, yyjson_val *object,
                                   const struct place *place, struct weir_avro_type *type)
{
    yyjson_val *size = yyjson_obj_get(object, "size");
    int64_t size_bytes = yyjson_is_int(size) ? yyjson_get_sint(size) : -1;
    if (size_bytes < 0 || size_bytes > BYTES_SATURATED) {
        return refuse(parser, place, "a fixed has a size from 0 to %d", BYTES_SATURATED);
    }
    type->size_bytes = (uint32_t)size_bytes;
    type->least_bytes = (uint32_t)size_bytes;
    return WEIR_OK;
}

static enum weir_status parse_named(struct parser *parser, yyjson_val *object,
                                    enum weir_avro_kind kind, const struct place *place,
                                    const struct weir_avro_type **out)
{
    const char *name = text_member(object, "name");
    const char *space = text_member(object, "namespace");
    if (name == NULL || name[0] == '\0') {
        return refuse(parser, place, "a record, enum or fixed has no name");
    }
    struct weir_avro_type *type = new_type(parser, kind);
    type->name = full_name(parser, space != NULL ? space : place->space, name);
    if (find_name(parser, type->name) != NULL) {
        return refuse(parser, place, "type %.200s is defined twice", type->name);
    }
    struct named *named = weir_arena_alloc(parser->arena, sizeof *named);
    *named = (struct named){.type = type, .is_open = true, .next = parser->names};
    parser->names = named;
    struct place inner = {.outer = place->outer,
                          .name = place->outer == NULL ? type->name : place->name,
                          .space = space_of(parser, type->name),
                          .depth = place->depth};
    type->aliases = read_aliases(parser, object, inner.space, &type->alias_count);
    enum weir_status status;
    if (kind == WEIR_AVRO_RECORD) {
        status = parse_fields(parser, yyjson_obj_get(object, "fields"), &inner, type);
    } else if (kind == WEIR_AVRO_ENUM) {
        status = parse_symbols(parser, object, &inner, type);
    } else {
        status = parse_size(parser, object, &inner, type);
        read_logical(type, object);
    }
    named->is_open = false;
    *out = type;
    return status == WEIR_OK ? check_size(parser, place, type) : WEIR_ERROR;
}

static enum weir_status parse_items(struct parser *parser, yyjson_val *object,
                                    enum weir_avro_kind kind, const struct place *place,
                                    const struct weir_avro_type **out)
{
    struct weir_avro_type *type = new_type(parser, kind);
    const char *member = kind == WEIR_AVRO_ARRAY ? "items" : "values";
    yyjson_val *item = yyjson_obj_get(object, member);
    type->least_bytes = 1;
    type->has_variable_bytes = true;
    if (item == NULL) {
        return refuse(parser, place, "an array or map has no \"%s\"", member);
    }
    if (parse_type(parser, item, place, &type->item) != WEIR_OK) {
        return WEIR_ERROR;
    }
    hold(type, type->item);
    *out = type;
    return check_size(parser, place, type);
}

static enum weir_status parse_object(struct parser *parser, yyjson_val *object,
                                     const struct place *place, const struct weir_avro_type **out)
{
    yyjson_val *value = yyjson_obj_get(object, "type");
    const char *name = yyjson_get_str(value);
    if (value == NULL) {
        return refuse(parser, place, "an object has no \"type\"");
    }
    if (name == NULL) {
        return parse_type(parser, value, place, out);
    }
    if (is_one_of(name, "record", "error")) {
        return parse_named(parser, object, WEIR_AVRO_RECORD, place, out);
    }
    if (strcmp(name, "enum") == 0) {
        return parse_named(parser, object, WEIR_AVRO_ENUM, place, out);
    }
    if (strcmp(name, "fixed") == 0) {
        return parse_named(parser, object, WEIR_AVRO_FIXED, place, out);
    }
    if (is_one_of(name, "array", "map")) {
        return parse_items(parser, object, name[0] == 'a' ? WEIR_AVRO_ARRAY : WEIR_AVRO_MAP, place,
                           out);
    }
    struct weir_avro_type *primitive = new_primitive(parser, name);
    if (primitive == NULL) {
        return parse_name(parser, name, place, out);
    }
    read_logical(primitive, object);
    *out = primitive;
    return WEIR_OK;
}

static enum weir_status parse_type(struct parser *parser, yyjson_val *value,
                                   const struct place *place, const struct weir_avro_type **out)
{
    struct place inner = *place;
    if (++inner.depth > 4 * WEIR_AVRO_DEPTH_MAX) {
        return refuse(parser, NULL, "types are nested more than %d deep", WEIR_AVRO_DEPTH_MAX);
    }
    if (yyjson_is_str(value)) {
        return parse_name(parser, yyjson_get_str(value), &inner, out);
    }
    if (yyjson_is_arr(value)) {
        return parse_union(parser, value, &inner, out);
    }
    if (yyjson_is_obj(value)) {
        return parse_object(parser, value, &inner, out);
    }
    return refuse(parser, place, "a type is a name, an object or a list of branches");
}

static enum weir_status parse_text(struct parser *parser, struct weir_view text,
                                   const struct weir_avro_type **out)
{
    yyjson_read_err fault;
    yyjson_doc *document =
        yyjson_read_opts((char *)(uintptr_t)text.data, text.size_bytes, 0, NULL, &fault);
    if (document == NULL) {
        return refuse(parser, NULL, "the schema is not JSON: %s at byte %zu", fault.msg, fault.pos);
    }
    struct place outermost = {.space = ""};
    enum weir_status status = parse_type(parser, yyjson_doc_get_root(document), &outermost, out);
    yyjson_doc_free(document);
    return status;
}

// Avro-C knows what is a name, a symbol, a union.
static enum weir_status validate(struct parser *parser, const struct weir_avro_type *type)
{
    struct weir_buffer text = {0};
    weir_avro_schema_append_canonical(type, &text);
    avro_schema_t schema = NULL;
    enum weir_status status = WEIR_OK;
    if (avro_schema_from_json_length(text.data, text.size_bytes, &schema) != 0) {
        status = refuse(parser, NULL, "not a valid Avro schema: %.500s", avro_strerror());
    } else {
        avro_schema_decref(schema);
    }
    weir_buffer_deinit(&text);
    return status;
}

enum weir_status weir_avro_schema_parse(struct weir_arena *arena, uint32_t reference_count,
                                        const struct weir_view *references, struct weir_view text,
                                        const struct weir_avro_type **type,
                                        struct weir_error *error)
{
    struct parser parser = {.arena = arena, .error = error};
    for (uint32_t i = 0; i < reference_count; i++) {
        const struct weir_avro_type *referenced;
        if (parse_text(&parser, references[i], &referenced) != WEIR_OK) {
            return weir_error_context(error, "referenced schema %u", i + 1);
        }
    }
    return parse_text(&parser, text, type) == WEIR_OK ? validate(&parser, *type) : WEIR_ERROR;
}
