// SPDX-License-Identifier: Apache-2.0
// See config_kafka.h. A variable's name is matched against the names that the linked client lists,
// each written as a variable; so '.' and '_' need no guessing (log_level keeps its own underscore)
// and a misspelt one has a nearest neighbour. A property of one side goes to that side's list,
// whatever form it was given in: the other side would only warn about it.
#include "app/config_kafka.h"

#include "app/secret.h"
#include "kafka/rdkafka_property.h"
#include "runtime/base/text.h"

#include <ctype.h>
#include <string.h>

static const char general_prefix[] = "WEIR_KAFKA_";
static const char consumer_prefix[] = "WEIR_KAFKA_CONSUMER_";
static const char producer_prefix[] = "WEIR_KAFKA_PRODUCER_";
static const char file_suffix[] = "_FILE";

enum side {
    SIDE_BOTH,
    SIDE_CONSUMER,
    SIDE_PRODUCER,
};

enum { SIDE_COUNT = 3 };

static const char *const prefixes[SIDE_COUNT] = {general_prefix, consumer_prefix, producer_prefix};

struct taken {
    const char *label; // the variable
    const char *property;
    const char *canonical; // behind the alias
    enum side given_side;
    enum side side; // of the list it goes to
    const char *value;
};

struct loader {
    struct weir_environment *environment;
    struct weir_arena *arena;
    uint32_t known_count;
    const struct weir_rdkafka_property *known;
    uint32_t taken_count;
    struct taken *taken;
};

const char *weir_config_kafka_variable(struct weir_arena *arena, const char *prefix,
                                       const char *property)
{
    char *name = weir_arena_printf(arena, "%s%s", prefix, property);
    for (char *at = name; *at != '\0'; at++) {
        *at = *at == '.' || *at == '-' ? '_' : (char)toupper((unsigned char)*at);
    }
    return name;
}

// Whether `written` of that size, as in a variable's name, spells the property.
static bool spells(const char *written, size_t size_bytes, const char *property)
{
    if (strlen(property) != size_bytes) {
        return false;
    }
    for (size_t i = 0; i < size_bytes; i++) {
        char c = property[i];
        if (written[i] != (c == '.' || c == '-' ? '_' : (char)toupper((unsigned char)c))) {
            return false;
        }
    }
    return true;
}

// A variable's name taken apart.
struct parsed_name {
    enum side side;
    const char *written; // the part that spells the property, without prefix and _FILE
    size_t written_bytes;
    const char *property;                           // NULL: unknown
    const struct weir_rdkafka_property *definition; // NULL: the client does not list it
    const struct weir_rdkafka_owned *owned;         // NULL: it is the operator's to set
};

static bool find_property(const struct loader *loader, struct parsed_name *name)
{
    for (uint32_t i = 0; i < weir_rdkafka_owned_count; i++) {
        if (spells(name->written, name->written_bytes, weir_rdkafka_owned[i].name)) {
            name->owned = &weir_rdkafka_owned[i];
            name->property = name->owned->name;
            return true;
        }
    }
    for (uint32_t i = 0; i < loader->known_count; i++) {
        if (spells(name->written, name->written_bytes, loader->known[i].name)) {
            name->definition = &loader->known[i];
            name->property = name->definition->name;
            return true;
        }
    }
    return false;
}

// Whole first: a property's own name may end in "file".
static bool find_with_or_without_file(const struct loader *loader, struct parsed_name *name)
{
    if (find_property(loader, name)) {
        return true;
    }
    size_t suffix_bytes = strlen(file_suffix);
    if (name->written_bytes > suffix_bytes &&
        memcmp(name->written + name->written_bytes - suffix_bytes, file_suffix, suffix_bytes) ==
            0) {
        name->written_bytes -= suffix_bytes;
        return find_property(loader, name);
    }
    return false;
}

static struct parsed_name parse_name(const struct loader *loader, const char *variable)
{
    struct parsed_name name = {0};
    for (int side = SIDE_COUNT - 1; side >= SIDE_BOTH; side--) {
        size_t prefix_bytes = strlen(prefixes[side]);
        if (strncmp(variable, prefixes[side], prefix_bytes) == 0) {
            name = (struct parsed_name){.side = (enum side)side,
                                        .written = variable + prefix_bytes,
                                        .written_bytes = strlen(variable + prefix_bytes)};
            if (find_with_or_without_file(loader, &name) || side != SIDE_BOTH) {
                // A side's prefix is never the beginning of a property's name.
                return name;
            }
        }
    }
    return name;
}

static void add_unknown(struct loader *loader, const char *variable, const struct parsed_name *name)
{
    const char **names = weir_arena_alloc(loader->arena, loader->known_count * sizeof *names);
    for (uint32_t i = 0; i < loader->known_count; i++) {
        names[i] =
            weir_config_kafka_variable(loader->arena, prefixes[name->side], loader->known[i].name);
    }
    const char *base = weir_arena_printf(loader->arena, "%s%.*s", prefixes[name->side],
                                         (int)name->written_bytes, name->written);
    const char *nearest = weir_text_nearest(base, loader->known_count, names, UINT32_MAX);
    uint32_t idx = 0;
    while (names[idx] != nearest) {
        idx++;
    }
    weir_fault_list_add(loader->environment->faults,
                        "%s: the Kafka client has no such property; the nearest is %s (%s)",
                        variable, nearest, loader->known[idx].name);
}

static const char *canonical_of(const struct weir_rdkafka_property *definition)
{
    return definition->alias_of != NULL ? definition->alias_of : definition->name;
}

// Adds the fault if the variable may not stand, whatever its value.
static bool refuse_name(struct loader *loader, const char *variable, const struct parsed_name *name)
{
    struct weir_fault_list *faults = loader->environment->faults;
    if (name->property == NULL) {
        add_unknown(loader, variable, name);
        return true;
    }
    if (name->owned != NULL) {
        weir_fault_list_add(faults, "%s: weir sets %s itself: %s", variable, name->property,
                            name->owned->reason);
        return true;
    }
    if (strcmp(name->property, "bootstrap.servers") == 0) {
        weir_fault_list_add(faults,
                            "%s: one job reads and writes one cluster; set "
                            "WEIR_KAFKA_BOOTSTRAP_SERVERS",
                            variable);
        return true;
    }
    bool is_producer_only = !name->definition->is_for_consumer;
    bool is_consumer_only = !name->definition->is_for_producer;
    if ((name->side == SIDE_CONSUMER && is_producer_only) ||
        (name->side == SIDE_PRODUCER && is_consumer_only)) {
        weir_fault_list_add(faults, "%s: %s is a property of %s; set %s", variable, name->property,
                            is_producer_only ? "producers" : "consumers",
                            weir_config_kafka_variable(
                                loader->arena, is_producer_only ? producer_prefix : consumer_prefix,
                                name->property));
        return true;
    }
    return false;
}

// False: the client refuses the value, and the fault is added.
static bool check_value(struct loader *loader, const char *label, const char *property,
                        const char *value)
{
    struct weir_error error;
    // Setting this one already loads the library.
    if (strcmp(property, "plugin.library.paths") == 0 ||
        weir_rdkafka_property_check(property, value, &error) == WEIR_OK) {
        return true;
    }
    if (weir_name_is_secret(property)) {
        weir_fault_list_add(loader->environment->faults,
                            "%s: the Kafka client refuses the value of %s", label, property);
    } else {
        weir_fault_list_add(loader->environment->faults, "%s: \"%s\" is refused: %s", label, value,
                            error.text);
    }
    return false;
}

static bool is_set_before(struct loader *loader, const struct taken *taken)
{
    for (uint32_t i = 0; i < loader->taken_count; i++) {
        const struct taken *before = &loader->taken[i];
        if (before->given_side == taken->given_side &&
            strcmp(before->canonical, taken->canonical) == 0) {
            weir_fault_list_add(loader->environment->faults,
                                "%s and %s set the same property; keep one", before->label,
                                taken->label);
            return true;
        }
    }
    return false;
}

// One variable of the environment. False: nothing was taken.
static bool take(struct loader *loader, const char *variable, struct weir_setting *setting)
{
    struct parsed_name name = parse_name(loader, variable);
    if (refuse_name(loader, variable, &name)) {
        weir_environment_find(loader->environment, variable)->is_used = true;
        return false;
    }
    const char *base =
        weir_config_kafka_variable(loader->arena, prefixes[name.side], name.property);
    struct weir_given given = weir_environment_lookup(loader->environment, base, false);
    bool is_secret = weir_name_is_secret(name.property);
    *setting = (struct weir_setting){.name = base,
                                     .value = given.value,
                                     .source = given.source,
                                     .default_text = "the client's",
                                     .is_secret = is_secret};
    if (given.value == NULL || !check_value(loader, given.label, name.property, given.value)) {
        return given.value != NULL;
    }
    struct taken taken = {.label = given.label,
                          .property = name.property,
                          .canonical = canonical_of(name.definition),
                          .given_side = name.side,
                          .side = name.side,
                          .value = given.value};
    if (!name.definition->is_for_producer) {
        taken.side = SIDE_CONSUMER;
    } else if (!name.definition->is_for_consumer) {
        taken.side = SIDE_PRODUCER;
    }
    if (!is_set_before(loader, &taken)) {
        loader->taken[loader->taken_count++] = taken;
    }
    return true;
}

// The list of a side, general forms first: of two settings of one property, which the client takes
// in their order, the one for the side alone counts.
static uint32_t build_list(const struct loader *loader, enum side side,
                           const struct weir_property **properties)
{
    struct weir_property *list =
        weir_arena_alloc(loader->arena, (loader->taken_count + 1) * sizeof *list);
    uint32_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < loader->taken_count; i++) {
            const struct taken *taken = &loader->taken[i];
            bool is_general = taken->given_side == SIDE_BOTH;
            if (taken->side == side && is_general == (pass == 0) &&
                strcmp(taken->property, "transaction.timeout.ms") != 0) {
                list[count++] =
                    (struct weir_property){.name = taken->property, .value = taken->value};
            }
        }
    }
    *properties = list;
    return count;
}

static void take_transaction_timeout(const struct loader *loader, struct weir_config *config)
{
    bool is_from_side = false;
    for (uint32_t i = 0; i < loader->taken_count; i++) {
        const struct taken *taken = &loader->taken[i];
        int64_t value;
        if (strcmp(taken->property, "transaction.timeout.ms") == 0 && !is_from_side &&
            weir_text_integer_parse(taken->value, &value)) {
            config->transaction_timeout_ms = value;
            config->is_transaction_timeout_given = true;
            is_from_side = taken->given_side == SIDE_PRODUCER;
        }
    }
}

void weir_config_kafka_load(struct weir_environment *environment, struct weir_config *config,
                            struct weir_setting *settings, uint32_t *setting_count)
{
    struct loader loader = {.environment = environment, .arena = environment->arena};
    loader.known_count = weir_rdkafka_known_properties(loader.arena, &loader.known);
    loader.taken = weir_arena_alloc(loader.arena, (environment->count + 1) * sizeof *loader.taken);
    if (config->bootstrap_servers != NULL) {
        loader.taken[loader.taken_count++] = (struct taken){
            .label = "WEIR_KAFKA_BOOTSTRAP_SERVERS",
            .property = "bootstrap.servers",
            .canonical = "bootstrap.servers",
            .value = config->bootstrap_servers,
        };
    }
    for (uint32_t i = 0; i < environment->count; i++) {
        const struct weir_environment_entry *entry = &environment->entries[i];
        if (!entry->is_used && strncmp(entry->name, general_prefix, strlen(general_prefix)) == 0 &&
            take(&loader, entry->name, &settings[*setting_count])) {
            (*setting_count)++;
        }
    }
    take_transaction_timeout(&loader, config);
    config->property_count = build_list(&loader, SIDE_BOTH, &config->properties);
    config->consumer_property_count =
        build_list(&loader, SIDE_CONSUMER, &config->consumer_properties);
    config->producer_property_count =
        build_list(&loader, SIDE_PRODUCER, &config->producer_properties);
}

struct weir_kafka_config weir_config_client(const struct weir_config *config, const char *group_id)
{
    return (struct weir_kafka_config){
        .group_id = group_id,
        .property_count = config->property_count,
        .properties = config->properties,
        .consumer_property_count = config->consumer_property_count,
        .consumer_properties = config->consumer_properties,
        .producer_property_count = config->producer_property_count,
        .producer_properties = config->producer_properties,
        .transaction_timeout_ms = config->transaction_timeout_ms,
    };
}
