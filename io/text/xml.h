// The subset of XML that mesh files use: tags with attributes, and the text between them. Comments,
// declarations and processing instructions are skipped, entities in attributes are resolved on
// demand, DTDs are errors.
#ifndef SN_IO_TEXT_XML_H
#define SN_IO_TEXT_XML_H

#include "io/bytes/buffer.h"
#include "io/bytes/source.h"

enum { SN_XML_ATTRIBUTES = 32 };

typedef enum sn_xml_kind { SN_XML_OPEN, SN_XML_CLOSE, SN_XML_END } sn_xml_kind;

typedef struct sn_xml_tag {
    sn_xml_kind kind;
    const char *at; // of the '<'
    sn_word name;
    bool empty; // <name/>: no closing tag follows
    int32_t attribute_count;
    struct {
        sn_word name, value; // value without its quotes
    } attributes[SN_XML_ATTRIBUTES];
} sn_xml_tag;

typedef struct sn_xml {
    sinew_context *context;
    const sn_source *source;
    sn_text text; // the cursor is after the last tag
} sn_xml;

sn_xml sn_xml_create(sinew_context *context, const sn_source *source);

// The next tag; the text before it is skipped.
sinew_status sn_xml_next(sn_xml *xml, sn_xml_tag *tag);

// The value of an attribute; `at` is NULL if there is none.
sn_word sn_xml_attribute(const sn_xml_tag *tag, const char *name);

void sn_xml_add_escaped(sn_buffer *out, const char *text);

#endif
