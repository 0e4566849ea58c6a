// A strict pull parser for simple XML; see io/text/xml.h.
#include "io/text/xml.h"

#include <string.h>

sn_xml sn_xml_create(sinew_context *context, const sn_source *source) {
    return (sn_xml){context, source, sn_source_text(source)};
}

#define FAIL(xml, at, ...)                                                                         \
    sn_source_fail_at((xml)->context, (xml)->source, SINEW_INVALID_DATA, (at), __VA_ARGS__)

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == ':' || c == '.';
}

static sn_word read_name(sn_text *text) {
    const char *begin = text->at;
    while (text->at < text->end && is_name(*text->at)) {
        text->at++;
    }
    return (sn_word){begin, (size_t)(text->at - begin)};
}

static sinew_status skip_past(sn_xml *xml, const char *end) {
    const char *begin = xml->text.at;
    size_t size = strlen(end);
    for (const char *c = begin; c + size <= xml->text.end; c++) {
        if (memcmp(c, end, size) != 0) {
            continue;
        }
        xml->text.at = c + size;
        return SINEW_OK;
    }

    return FAIL(xml, begin, "this is never closed; %s is missing", end);
}

static sinew_status read_attribute(sn_xml *xml, sn_xml_tag *tag) {
    sn_text *text = &xml->text;
    const char *begin = text->at;
    sn_word name = read_name(text);
    char shown[SN_TEXT_FOUND_SIZE];

    if (name.size == 0) {
        return FAIL(xml, begin, "found %s in a tag", sn_text_found(begin, text->end, shown));
    }

    sn_text_skip_spaces(text);
    if (text->at >= text->end || *text->at != '=') {
        return FAIL(xml, text->at, "expected = after the name of an attribute");
    }

    text->at++;
    sn_text_skip_spaces(text);

    char quote = text->at < text->end ? *text->at : 0;
    if (quote != '"' && quote != '\'') {
        return FAIL(xml, text->at, "the value of an attribute must be in quotes");
    }

    // The value extends to the matching quote.
    const char *value = ++text->at;
    const char *close = memchr(value, quote, (size_t)(text->end - value));
    if (!close) {
        return FAIL(xml, value, "the value of this attribute is never closed");
    }

    text->at = close + 1;
    if (tag->attribute_count == SN_XML_ATTRIBUTES) {
        return FAIL(xml, begin, "more than %d attributes", SN_XML_ATTRIBUTES);
    }

    tag->attributes[tag->attribute_count].name = name;
    tag->attributes[tag->attribute_count++].value = (sn_word){value, (size_t)(close - value)};

    return SINEW_OK;
}

static sinew_status read_tag(sn_xml *xml, sn_xml_tag *tag) {
    sn_text *text = &xml->text;
    tag->kind = SN_XML_OPEN;
    if (text->at < text->end && *text->at == '/') {
        tag->kind = SN_XML_CLOSE;
        text->at++;
    }

    tag->name = read_name(text);
    if (tag->name.size == 0) {
        return FAIL(xml, tag->at, "a tag without a name");
    }

    // Attributes up to the end of the tag.
    for (;;) {
        sn_text_skip_spaces(text);
        if (text->at >= text->end) {
            return FAIL(xml, tag->at, "this tag is never closed; > is missing");
        }

        if (*text->at == '>') {
            text->at++;
            return SINEW_OK;
        }

        if (*text->at == '/' && text->at + 1 < text->end && text->at[1] == '>') {
            text->at += 2;
            tag->empty = true;
            return SINEW_OK;
        }

        SN_TRY(read_attribute(xml, tag));
    }
}

sinew_status sn_xml_next(sn_xml *xml, sn_xml_tag *tag) {
    sn_text *text = &xml->text;
    for (;;) {
        *tag = (sn_xml_tag){.kind = SN_XML_END, .at = text->end};
        const char *open =
            text->at < text->end ? memchr(text->at, '<', (size_t)(text->end - text->at)) : NULL;

        if (!open) {
            text->at = text->end;
            return SINEW_OK;
        }

        // Skip comments and declarations; anything else is a tag.
        tag->at = open;
        text->at = open + 1;

        sn_word rest = {text->at, (size_t)(text->end - text->at)};
        if (sn_word_starts(rest, "!--")) {
            SN_TRY(skip_past(xml, "-->"));
        } else if (sn_word_starts(rest, "?")) {
            SN_TRY(skip_past(xml, "?>"));
        } else if (sn_word_starts(rest, "!")) {
            return FAIL(xml, open, "document types and CDATA are not supported");
        } else {
            return read_tag(xml, tag);
        }
    }
}

sn_word sn_xml_attribute(const sn_xml_tag *tag, const char *name) {
    for (int32_t i = 0; i < tag->attribute_count; i++) {
        if (sn_word_is(tag->attributes[i].name, name)) {
            return tag->attributes[i].value;
        }
    }
    return (sn_word){NULL, 0};
}

static const struct {
    const char *entity;
    char character;
} entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
enum { ENTITIES = sizeof entities / sizeof entities[0] };

void sn_xml_add_escaped(sn_buffer *out, const char *text) {
    for (; *text; text++) {
        int found = -1;
        for (int e = 0; e < ENTITIES; e++) {
            if (*text == entities[e].character) {
                found = e;
            }
        }

        if (found < 0) {
            sn_buffer_add(out, text, 1);
        } else {
            sn_buffer_add_text(out, entities[found].entity);
        }
    }
}
