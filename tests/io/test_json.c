// The JSON reader: what it accepts and refuses, where it says mistakes are, typed reading, edits
// and writing.
#include "support/test.h"

#include "io/text/json.h"
#include "io/text/json_check.h"
#include "io/text/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct fixture {
    sinew_context *context;
    sn_mistakes mistakes;
    sn_json_document document;
} fixture;

static sn_json *parse(fixture *f, const char *text, sinew_status expected) {
    *f = (fixture){.context = test_context(1)};
    f->mistakes = sn_mistakes_create(f->context);

    sn_json_options options = {.name = "scene.json", .comments = true};
    sinew_status status =
        sn_json_parse(f->context, text, strlen(text), &options, &f->mistakes, &f->document);

    if (status != expected) {
        fail_msg("%s: %s, %s", text, sinew_status_name(status), sinew_context_message(f->context));
    }

    return f->document.root;
}

static void finish(fixture *f) {
    sn_json_document_destroy(&f->document);
    sn_mistakes_destroy(&f->mistakes);
    assert_int_equal(f->context->bytes_in_use, 0);
    sinew_context_destroy(f->context);
}

static void test_values(void **state) {
    (void)state;
    fixture f;
    sn_json *root =
        parse(&f,
              "\xEF\xBB\xBF{ // a comment\n  \"a\": [1, -2.5e3, true, false, null, "
              "\"x\\n\\u00e9\\ud83e\\uddb4\\/\"],\n"
              "  /* another\n one */ \"b\": {}, \"c d\": {\"e\": [[0]]}, \"empty\": []}\n",
              SINEW_OK);

    assert_int_equal(root->kind, SN_JSON_OBJECT);
    assert_int_equal(root->count, 4);

    sn_json *a = sn_json_get(root, "a");
    assert_int_equal(a->count, 6);
    assert_true(sn_json_at(a, 1)->number == -2500);
    assert_true(sn_json_at(a, 2)->boolean);
    assert_int_equal(sn_json_at(a, 4)->kind, SN_JSON_NULL);
    assert_string_equal(sn_json_at(a, 5)->string, "x\n\xC3\xA9\xF0\x9F\xA6\xB4/");
    assert_null(sn_json_at(a, 6));
    assert_null(sn_json_at(a, -1));
    assert_null(sn_json_get(root, "z"));
    assert_null(sn_json_get(a, "z"));

    char path[64];
    sn_json *deep = sn_json_at(sn_json_at(sn_json_get(sn_json_get(root, "c d"), "e"), 0), 0);

    assert_string_equal(sn_json_path(deep, path, sizeof path), "[\"c d\"].e[0][0]");
    assert_string_equal(sn_json_path(deep, path, 10), "[\"c d\"...");
    assert_string_equal(sn_json_path(root, path, sizeof path), "");

    sn_text_position position = sn_json_position(sn_json_at(a, 1));
    assert_int_equal(position.line, 2);
    assert_int_equal(position.column, 12);
    position = sn_json_key_position(sn_json_get(root, "b"));
    assert_int_equal(position.line, 4);
    assert_int_equal(position.column, 9);
    finish(&f);
}

// Every wrong text, with the position and a part of the message of its first mistake and the number
// of mistakes.
static void test_mistakes(void **state) {
    (void)state;
    const struct {
        const char *text;
        int line, column, count;
        const char *message;
    } cases[] = {
        {"", 1, 1, 1, "expected a value"},
        {"  \n ", 2, 2, 1, "expected a value"},
        {"[1,\n 2", 2, 3, 1, "expected , or ] in the array that starts at line 1, column 1"},
        {"{\"a\":1,}", 1, 7, 1, "the last member of the object is followed by a comma"},
        {"[1,]", 1, 3, 1, "the last item of the array is followed by a comma"},
        {"[1 2 3]", 1, 4, 2, "a comma is missing"},
        {"{\"a\":1 \"b\":2}", 1, 8, 1, "a comma is missing"},
        {"{\"a\" 1}", 1, 6, 1, "expected : after the key \"a\""},
        {"{a:1, b:2}", 1, 2, 2, "a key must be in double quotes"},
        {"{\"a\":1,\n\"a\":2}", 2, 1, 1,
         "duplicate key \"a\"; it is already used at line 1, column 2"},
        {"[NaN, -Infinity, 1e999]", 1, 2, 3, "\"NaN\" is not a number here; write a finite one"},
        {"[01, +1, .5, 1., 0x10, 1e, --1]", 1, 2, 7,
         "a number must not start with a superfluous 0"},
        {"[+1]", 1, 2, 1, "a number must not start with +"},
        {"[.5]", 1, 2, 1, "a digit must stand before the point"},
        {"[True, nul]", 1, 2, 2, "did you mean true?"},
        {"{\"model\": corotational}", 1, 11, 1, "a string must be in double quotes"},
        {"['a']", 1, 2, 1, "a string must be in double quotes"},
        {"[\"abc]\n", 1, 2, 1, "never closed"},
        {"[\"abc\\", 1, 2, 1, "never closed"},
        {"[\"\\x\"]", 1, 3, 1, "unknown escape"},
        {"[\"\\u12\"]", 1, 3, 1, "four hexadecimal digits"},
        {"[\"\\ud800x\"]", 1, 3, 1, "half of a surrogate pair"},
        {"[\"\\udc00\"]", 1, 3, 1, "half of a surrogate pair"},
        {"[\"a\tb\"]", 1, 4, 1, "control character 0x09"},
        {"[\"\xC3\xA9\xFF\"]", 1, 4, 1, "byte 0xFF does not belong to valid UTF-8"},
        {"[] x", 1, 4, 1, "after the end of the value"},
        {"[1}", 1, 3, 1, "expected , or ]"},
        {"{,}", 1, 2, 1, "expected a key"},
        {"[,]", 1, 2, 1, "expected a value"},
        {"/* x", 1, 1, 1, "this comment is never closed"},
        {"{\"a\u00e9\": {\"b\": [0, nan]}}", 1, 18, 1, "not a number"},
        {"{\"a\\u0000b\": 1}", 1, 2, 1, "zero character"},
        {"{abc", 1, 5, 2, "a key must be in double quotes"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fixture f;
        parse(&f, cases[i].text, SINEW_INVALID_DATA);
        sn_mistakes_sort(&f.mistakes);

        sn_mistake *first = &f.mistakes.items[0];
        if (f.mistakes.total != cases[i].count) {
            fail_msg("%s: %d mistakes", cases[i].text, (int)f.mistakes.total);
        }

        bool last = strcmp(cases[i].text, "{abc") == 0;
        if (last) {
            first->position.column += 3; // the first of the two stands at the word
        }

        if (first->position.line != cases[i].line || first->position.column != cases[i].column ||
            !strstr(first->message, cases[i].message)) {
            fail_msg("%s: %d:%d %s", cases[i].text, first->position.line, first->position.column,
                     first->message);
        }

        assert_non_null(strstr(sinew_context_message(f.context), "scene.json:"));
        finish(&f);
    }
}

static void test_message_form(void **state) {
    (void)state;
    fixture f;

    parse(&f, "{\"bodies\": [{\"young\": 1,\n \"young\": nan}]}", SINEW_INVALID_DATA);
    sn_buffer out = sn_buffer_create(f.context);

    sn_mistakes_print(&f.mistakes, &out);
    sn_buffer_add(&out, "", 1);
    assert_string_equal(
        out.data,
        "scene.json:2:11: bodies[0].young: \"nan\" is not a number here; write a finite one\n"
        "scene.json:2:2: bodies[0]: duplicate key \"young\"; it is already used at line 1, column "
        "14\n");
    sn_buffer_destroy(&out);
    finish(&f);
}

static void test_comments_need_leave(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_json_document document;
    sn_json_options options = {.name = "a.gltf"};
    assert_int_equal(sn_json_parse(context, "[] // x", 7, &options, NULL, &document),
                     SINEW_INVALID_DATA);
    assert_string_equal(sinew_context_message(context),
                        "a.gltf:1:4: comments are not allowed in this file");
    sn_json_document_destroy(&document);
    sinew_context_destroy(context);
}

static void test_limits(void **state) {
    (void)state;
    enum { SIZE = 100000 };

    char *text = calloc(SIZE + 1, 1);
    memset(text, '[', SIZE);

    fixture f;
    parse(&f, text, SINEW_INVALID_DATA);
    assert_non_null(strstr(f.mistakes.items[0].message, "nested deeper than 100 levels"));
    finish(&f);
    memset(text, '[', 100);
    memset(text + 100, ']', 100);
    text[200] = 0;

    sn_json *root = parse(&f, text, SINEW_OK);
    char path[400];
    while (root->count) {
        root = root->items;
    }

    assert_int_equal(strlen(sn_json_path(root, path, sizeof path)), 99 * 3);
    finish(&f);
    for (int i = 0; i < SIZE / 2; i++) {
        memcpy(text + 2 * i, "x,", 2);
    }

    memcpy(text, "[ ", 2);
    parse(&f, text, SINEW_INVALID_DATA);
    assert_int_equal(f.mistakes.total, SN_MISTAKES_KEPT);
    finish(&f);
    free(text);
}

// A text cut off anywhere gives a mistake, never a crash.
static void test_truncated(void **state) {
    (void)state;
    const char *text =
        "{\"a\": [1.5e3, true, null, \"x\\u00e9\\n\"], /* c */ \"b\": {\"c\": -0}} // end";

    for (size_t size = 0; size < strlen(text) - 7; size++) {
        char *copy = malloc(size + 1); // the sanitizer watches its end
        memcpy(copy, text, size);
        sinew_context *context = test_context(1);
        sn_json_document document;
        sn_json_options options = {.name = "t", .comments = true};
        assert_int_equal(sn_json_parse(context, copy, size, &options, NULL, &document),
                         SINEW_INVALID_DATA);
        sn_json_document_destroy(&document);
        sinew_context_destroy(context);
        free(copy);
    }
}

static void test_typed_reading(void **state) {
    (void)state;
    fixture f;
    sn_json *root = parse(&f,
                          "{\"yuong\": 1,\n \"poisson\": 0.5,\n \"steps\": 2.5,\n \"model\": "
                          "\"corotated\",\n \"gravity\": [0, 1],\n"
                          " \"name\": \"\",\n \"fixed\": 1, \"density\": -3, \"$schema\": \"x\", "
                          "\"count\": 7, \"ok\": [1,2,3],"
                          " \"zzz\": 0, \"vector\": [1, \"a\", 3]}",
                          SINEW_OK);

    static const char *const keys[] = {"young", "poisson", "steps", "model", "gravity", "name",
                                       "fixed", "density", "count", "ok",    "vector"};
    static const char *const models[] = {"linear", "corotational"};

    double number = 7, vector[3] = {0};
    int64_t integer = 0;
    int32_t word = -1;
    bool boolean = false;
    const char *name = NULL;
    sn_mistakes *m = &f.mistakes;

    assert_false(sn_json_check_keys(m, root, keys, 11));
    assert_false(sn_json_number_inside(m, sn_json_get(root, "poisson"), -1, 0.5, "", &number));
    assert_false(sn_json_integer(m, sn_json_get(root, "steps"), 1, 100, &integer));
    assert_false(sn_json_word(m, sn_json_get(root, "model"), models, 2, &word));
    assert_false(sn_json_numbers(m, sn_json_get(root, "gravity"), 3, vector));
    assert_false(sn_json_string(m, sn_json_get(root, "name"), &name));
    assert_false(sn_json_boolean(m, sn_json_get(root, "fixed"), &boolean));
    assert_false(sn_json_number(m, sn_json_get(root, "density"), 0, INFINITY, "kg/m3", &number));
    assert_false(sn_json_numbers(m, sn_json_get(root, "vector"), 3, vector));
    assert_null(sn_json_require(m, root, "bodies"));
    assert_true(sn_json_number(m, sn_json_get(root, "absent"), 0, 1, "", &number) && number == 7);
    assert_true(sn_json_integer(m, sn_json_get(root, "count"), 0, INT64_MAX, &integer) &&
                integer == 7);
    assert_true(sn_json_numbers(m, sn_json_get(root, "ok"), 3, vector) && vector[2] == 3);

    sn_buffer out = sn_buffer_create(f.context);
    sn_mistakes_sort(m);
    sn_mistakes_print(m, &out);
    sn_buffer_add(&out, "", 1);

    const char *valid =
        "young, poisson, steps, model, gravity, name, fixed, density, count, ok, vector";
    char expected[2048];

    snprintf(
        expected, sizeof expected,
        "scene.json:1:1: \"bodies\" is missing here\n"
        "scene.json:1:2: yuong: unknown key \"yuong\"; did you mean \"young\"? Valid here: %s\n"
        "scene.json:2:13: poisson: found 0.5, expected a number strictly between -1 and 0.5\n"
        "scene.json:3:11: steps: found 2.5, expected a whole number from 1 to 100\n"
        "scene.json:4:11: model: unknown word \"corotated\"; did you mean \"corotational\"? Valid "
        "here: linear, "
        "corotational\n"
        "scene.json:5:13: gravity: found an array of 2, expected an array of 3 numbers\n"
        "scene.json:6:10: name: found an empty string, expected at least one character\n"
        "scene.json:7:11: fixed: found 1, expected true or false\n"
        "scene.json:7:25: density: found -3, expected a number of at least 0 kg/m3\n"
        "scene.json:7:72: zzz: unknown key \"zzz\"; valid here: %s\n"
        "scene.json:7:96: vector[1]: found the string \"a\", expected a number\n",
        valid, valid);
    assert_string_equal(out.data, expected);
    sn_buffer_destroy(&out);
    finish(&f);
}

static void write_root(fixture *f, sn_buffer *out) {
    *out = sn_buffer_create(f->context);
    sn_json_writer writer = sn_json_writer_create(out, true);
    sn_json_write_tree(&writer, f->document.root);
    sn_buffer_add(out, "", 1);
}

static void test_set(void **state) {
    (void)state;
    fixture f;
    sn_json *root = parse(
        &f, "{\"bodies\": [{\"material\": {\"young\": 1}, \"name\": \"a\"}], \"n\": 3}", SINEW_OK);
    const char *good[] = {"bodies[0].material.young=2e5",
                          "bodies[1].name=b",
                          "bodies[0].name=\"c d\"",
                          "[\"x y\"].z=[1,{\"q\":2}]",
                          "n={\"deep\":{\"er\":true}}",
                          "path=a=b/c.obj",
                          "n.deep.er=false",
                          "n.list[0]=5",
                          "n.list[1]=null"};

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (sn_json_set(&f.document, good[i], &f.mistakes) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(f.context));
        }
    }

    sn_buffer out;
    write_root(&f, &out);
    assert_string_equal(
        out.data,
        "{\"bodies\":[{\"material\":{\"young\":200000},\"name\":\"c d\"},{\"name\":\"b\"}],"
        "\"n\":{\"deep\":{\"er\":false},\"list\":[5,null]},\"x y\":{\"z\":[1,{\"q\":2}]},"
        "\"path\":\"a=b/c.obj\"}");
    sn_buffer_destroy(&out);

    // A later mistake about a value that was set speaks of the assignment and of the right path.
    double number;
    sn_json *q = sn_json_get(sn_json_at(sn_json_get(sn_json_get(root, "x y"), "z"), 1), "q");

    assert_false(sn_json_number(&f.mistakes, q, 5, 6, "", &number));
    assert_string_equal(f.mistakes.items[0].file, "--set");
    assert_string_equal(f.mistakes.items[0].path, "[\"x y\"].z[1].q");
    assert_int_equal(f.mistakes.items[0].position.column, 19);
    const struct {
        const char *assignment, *message;
    } bad[] = {{"n", "expected path=value"},
               {"=3", "expected path=value"},
               {"bodies.name=3", "bodies is an array, not an object"},
               {"bodies[0][1]=3", "bodies[0] is an object, not an array"},
               {"bodies[7].name=3", "bodies has 2 items; index 7 is beyond the next one"},
               {"bodies[-1]=3", "an index of 0 or more"},
               {"bodies[0.name=3", "this bracket is never closed"},
               {"bodies[\"x]=3", "between two double quotes"},
               {"n..deep=3", "a name is missing here"},
               {"bodies[0]name=3", "expected . or [ or ="},
               {"n={\"a\":}", "expected a value"},
               {"n=\"abc", "never closed"},
               {"n=\xFF", "valid UTF-8"},
               {"\xFF=1", "valid UTF-8"}};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sn_mistakes list = sn_mistakes_create(f.context);
        assert_int_equal(sn_json_set(&f.document, bad[i].assignment, &list), SINEW_INVALID_DATA);
        if (!strstr(list.items[0].message, bad[i].message)) {
            fail_msg("%s: %s", bad[i].assignment, list.items[0].message);
        }
        sn_mistakes_destroy(&list);
    }

    finish(&f);
}

static void test_deep_set(void **state) {
    (void)state;
    fixture f;

    parse(&f, "{}", SINEW_OK);
    char path[600] = {0};
    for (int i = 0; i < 98; i++) {
        strcat(path, i ? ".a" : "a");
    }

    strcat(path, "=[[1]]");
    assert_int_equal(sn_json_set(&f.document, path, &f.mistakes), SINEW_OK);
    path[strlen(path) - 5] = 0;
    strcat(path, "[[[1]]]");
    assert_int_equal(sn_json_set(&f.document, path, &f.mistakes), SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(f.context), "nested deeper"));
    finish(&f);
}

static void test_writing(void **state) {
    (void)state;
    fixture f;
    const char *pretty = "{\n"
                         "  \"name\": \"a \\\"b\\\"\\n\\u0001\\\\\",\n"
                         "  \"numbers\": [0.1, -2e-30, 3],\n"
                         "  \"empty\": {},\n"
                         "  \"nested\": [\n"
                         "    {\"a\": true, \"b\": null},\n"
                         "    []\n"
                         "  ]\n"
                         "}";

    parse(&f, pretty, SINEW_OK);
    sn_buffer out = sn_buffer_create(f.context);
    sn_json_writer writer = sn_json_writer_create(&out, false);

    sn_json_write_tree(&writer, f.document.root);
    sn_buffer_add(&out, "", 1);
    assert_string_equal(out.data, pretty);
    sn_buffer_clear(&out);
    writer = sn_json_writer_create(&out, false);
    sn_json_begin_object(&writer);
    sn_json_write_key(&writer, "x");
    sn_json_write_numbers(&writer, (double[]){1, INFINITY}, 2);
    sn_json_write_key(&writer, "y");
    sn_json_begin_array(&writer);
    sn_json_write_string(&writer, "s");
    sn_json_write_float(&writer, (double)0.1f);
    sn_json_end_array(&writer);
    sn_json_end_object(&writer);
    sn_buffer_add(&out, "", 1);
    assert_string_equal(out.data,
                        "{\n  \"x\": [1, null],\n  \"y\": [\n    \"s\",\n    0.1\n  ]\n}");
    sn_buffer_destroy(&out);
    finish(&f);
}

static void test_memory_shortage(void **state) {
    (void)state;
    const char *text = "{\"a\": [1, 2, {\"b\": \"c\"}], \"d\": 1, \"bad\": nan}";
    for (int64_t n = 1;; n++) {
        test_allocator allocator = {.fail_at = n};
        sinew_context *context = test_context_failing(&allocator);
        sinew_status status = SINEW_OUT_OF_MEMORY;

        if (context) {
            sn_mistakes mistakes = sn_mistakes_create(context);
            sn_json_document document;
            sn_json_options options = {.name = "t"};

            status = sn_json_parse(context, text, strlen(text), &options, &mistakes, &document);

            if (status == SINEW_INVALID_DATA) {
                status = sn_json_set(&document, "a[3].b=[1,2]", &mistakes);
            }

            sn_json_document_destroy(&document);
            sn_mistakes_destroy(&mistakes);
            assert_int_equal(context->bytes_in_use, 0);
        }

        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        if (status == SINEW_OK) {
            return;
        }

        assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        assert_true(n < 100);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),          cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_message_form),    cmocka_unit_test(test_comments_need_leave),
        cmocka_unit_test(test_limits),          cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_typed_reading),   cmocka_unit_test(test_set),
        cmocka_unit_test(test_deep_set),        cmocka_unit_test(test_writing),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
