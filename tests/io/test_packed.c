// Decompression against zlib's compressor, base64 against known texts, XML, the list of names, node
// tags.
#include "support/test.h"

#include "io/bytes/base64.h"
#include "io/bytes/inflate.h"
#include "io/mesh/tags.h"
#include "io/text/names.h"
#include "io/text/xml.h"

#include <stdlib.h>
#if defined(SN_WITH_ZLIB)
#include <zlib.h>
#endif

#if defined(SN_WITH_ZLIB)
enum { SIZE = 200000 };

// Runs, text and noise in turn, so that all kinds of blocks and long distances occur.
static void fill(uint8_t *data, size_t size, int kind) {
    sn_random random = sn_random_seed((uint64_t)kind + 1);
    for (size_t i = 0; i < size; i++) {
        if (kind == 0) {
            data[i] = 'x';
        } else if (kind == 1) {
            data[i] = (uint8_t)sn_random_u32(&random);
        } else if (kind == 2) {
            data[i] = (uint8_t) "etaoin shrdlu"[sn_random_u32(&random) % 13];
        } else {
            data[i] = i > 30000 && sn_random_u32(&random) % 8
                          ? data[i - 29000]
                          : (uint8_t)(sn_random_u32(&random) % 40);
        }
    }
}

// wrap: 15 for zlib, 31 for gzip.
static size_t deflate_with(const uint8_t *data, size_t size, int level, int strategy, int wrap,
                           uint8_t *out, size_t room) {
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, wrap, 8, strategy), Z_OK);
    stream.next_in = (Bytef *)data;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);

    size_t written = stream.total_out;
    deflateEnd(&stream);

    return written;
}

static void test_inflate(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    uint8_t *data = malloc(SIZE);
    uint8_t *packed = malloc(2 * SIZE);

    for (int kind = 0; kind < 4; kind++) {
        fill(data, SIZE, kind);
        assert_int_equal(sn_crc32(data, SIZE), crc32(0, data, SIZE));
        assert_int_equal(sn_adler32(data, SIZE), adler32(1, data, SIZE));

        for (int level = 0; level <= 9; level += 3) {
            for (int strategy = 0; strategy <= Z_FIXED; strategy++) {
                size_t size = deflate_with(data, SIZE, level, strategy, 15, packed, 2 * SIZE);
                sn_buffer out = sn_buffer_create(context);

                assert_int_equal(sn_inflate_zlib(packed, size, SIZE, &out), SN_INFLATE_OK);
                assert_int_equal(out.size, SIZE);
                assert_memory_equal(out.data, data, SIZE);
                sn_buffer_clear(&out);
                assert_int_equal(sn_inflate_zlib(packed, size, SIZE - 1, &out),
                                 SN_INFLATE_TOO_LARGE);
                packed[size - 1] ^= 1; // the checksum
                sn_buffer_clear(&out);
                assert_int_equal(sn_inflate_zlib(packed, size, SIZE, &out), SN_INFLATE_CORRUPT);
                sn_buffer_destroy(&out);
            }
        }
    }

    // Two gzip members, one after the other.
    size_t first = deflate_with(data, 1000, 6, 0, 31, packed, SIZE);
    size_t second = deflate_with(data + 1000, 5000, 6, 0, 31, packed + first, SIZE);
    sn_buffer out = sn_buffer_create(context);

    assert_int_equal(sn_inflate_gzip(packed, first + second, SIZE, &out), SN_INFLATE_OK);
    assert_int_equal(out.size, 6000);
    assert_memory_equal(out.data, data, 6000);
    sn_buffer_clear(&out);
    assert_int_equal(sn_inflate_gzip(packed, first + second, 5999, &out), SN_INFLATE_TOO_LARGE);
    sn_buffer_destroy(&out);
    free(data);
    free(packed);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

// Cut off anywhere, or with any byte changed: a result that says so, never a crash and never wrong
// data taken for right.
static void test_damaged_deflate(void **state) {
    (void)state;
    sinew_context *context = test_context(1);

    enum { SMALL = 3000 };
    uint8_t data[SMALL], packed[2 * SMALL];
    sn_random random = sn_random_seed(5);

    for (int kind = 0; kind < 4; kind++) {
        fill(data, SMALL, kind);
        size_t size = deflate_with(data, SMALL, 6, 0, 31, packed, sizeof packed);
        for (int trial = 0; trial < 3000; trial++) {
            size_t cut = trial < 1500 ? sn_random_u32(&random) % size : size;
            uint8_t *copy = malloc(cut + 1);

            memcpy(copy, packed, cut);
            if (trial >= 1500) {
                copy[sn_random_u32(&random) % size] ^= (uint8_t)(1 + sn_random_u32(&random) % 255);
            }

            sn_buffer out = sn_buffer_create(context);
            sn_inflate_result result = sn_inflate_gzip(copy, cut, 10 * SMALL, &out);
            if (trial < 1500) {
                assert_int_not_equal(result, SN_INFLATE_OK);
            }
            if (result == SN_INFLATE_OK) {
                assert_memory_equal(out.data, data, SMALL);
            }

            sn_buffer_destroy(&out);
            free(copy);
        }
    }

    sinew_context_destroy(context);
}
#endif

static void test_base64(void **state) {
    (void)state;
    static const struct {
        const char *plain, *encoded;
    } cases[] = {{"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
                 {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xFF\xFE\x00>", "//4APg=="}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = i == 5 ? 4 : strlen(cases[i].plain);
        const char *text = cases[i].encoded;
        sn_base64 stream = sn_base64_create(text, text + strlen(text));
        char out[8];

        assert_true(sn_base64_read(&stream, out, size));
        assert_memory_equal(out, cases[i].plain, size);
        assert_false(sn_base64_read(&stream, out, 1));
    }

    const char *two = " Zg== \n Zm9v";
    sn_base64 stream = sn_base64_create(two, two + strlen(two));
    char out[8] = {0};

    assert_true(sn_base64_read(&stream, out, 2));
    assert_true(sn_base64_read(&stream, out + 2, 2));
    assert_string_equal(out, "ffoo");
    assert_false(sn_base64_read(&stream, out, 1));

    // Each holds fewer bytes than are asked for, or a character that does not belong.
    const char *bad[] = {"Z", "Zg=", "Zm9!", "=Zg=", "Zg=v"};
    for (size_t i = 0; i < 5; i++) {
        stream = sn_base64_create(bad[i], bad[i] + strlen(bad[i]));
        assert_false(sn_base64_read(&stream, out, 1));
    }
}

static void test_xml(void **state) {
    (void)state;
    const char *text =
        "<?xml version='1.0'?><!-- a > b --><a x=\"1 &lt; 2\" y='&amp;'>text<b/></a>";
    sinew_context *context = test_context(1);
    sn_source source = {.name = "a.xml", .data = text, .size = strlen(text)};
    sn_xml xml = sn_xml_create(context, &source);
    sn_xml_tag tag;

    assert_int_equal(sn_xml_next(&xml, &tag), SINEW_OK);
    assert_true(tag.kind == SN_XML_OPEN && sn_word_is(tag.name, "a") && !tag.empty);

    sn_buffer out = sn_buffer_create(context);
    assert_true(sn_word_is(sn_xml_attribute(&tag, "x"), "1 &lt; 2"));
    assert_true(sn_word_is(sn_xml_attribute(&tag, "y"), "&amp;"));
    sn_xml_add_escaped(&out, "<&>");
    sn_buffer_add(&out, "", 1);
    assert_string_equal(out.data, "&lt;&amp;&gt;");
    assert_null(sn_xml_attribute(&tag, "z").at);
    assert_int_equal(sn_xml_next(&xml, &tag), SINEW_OK);
    assert_true(tag.empty && sn_word_is(tag.name, "b"));
    assert_int_equal(sn_xml_next(&xml, &tag), SINEW_OK);
    assert_true(tag.kind == SN_XML_CLOSE);
    assert_int_equal(sn_xml_next(&xml, &tag), SINEW_OK);
    assert_true(tag.kind == SN_XML_END);
    sn_buffer_destroy(&out);
    sinew_context_destroy(context);
}

static void test_names(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    sn_names names = sn_names_create(&arena);

    assert_int_equal(sn_names_find(&names, (sn_word){"a", 1}), -1);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 1000; i++) {
            char word[2] = {(char)(i / 40), (char)(i % 40)};
            assert_int_equal(sn_names_add(&names, (sn_word){word, 2}), i);
        }
    }

    assert_int_equal(names.count, 1000);
    sn_names_destroy(&names);
    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

static void test_tags(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const int64_t consecutive[] = {5, 6, 7};
    const int64_t gaps[] = {9, 3, 5};
    const int64_t scattered[] = {1, 1000000000000, -7, 900000};

    const struct {
        const int64_t *tags;
        int32_t count;
    } cases[] = {{consecutive, 3}, {gaps, 3}, {scattered, 4}};

    for (int c = 0; c < 3; c++) {
        sn_tags tags;
        int32_t twice;

        assert_int_equal(sn_tags_create(context, cases[c].tags, cases[c].count, &tags, &twice),
                         SINEW_OK);
        for (int32_t i = 0; i < cases[c].count; i++) {
            assert_int_equal(sn_tags_find(&tags, cases[c].tags[i]), i);
        }

        assert_int_equal(sn_tags_find(&tags, 4), -1);
        assert_int_equal(sn_tags_find(&tags, 10), -1);
        assert_int_equal(sn_tags_find(&tags, INT64_MAX), -1);
        assert_int_equal(sn_tags_find(&tags, INT64_MIN), -1);
        sn_tags_destroy(&tags);
    }

    const int64_t twins[][3] = {{2, 1, 2}, {1, 1000000000000, 1}};
    for (int c = 0; c < 2; c++) {
        sn_tags tags;
        int32_t twice = -1;
        assert_int_equal(sn_tags_create(context, twins[c], 3, &tags, &twice), SINEW_INVALID_DATA);
        assert_int_equal(twice, 2);
        sn_tags_destroy(&tags);
    }

    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#if defined(SN_WITH_ZLIB)
        cmocka_unit_test(test_inflate),
        cmocka_unit_test(test_damaged_deflate),
#endif
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_xml),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_tags),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
