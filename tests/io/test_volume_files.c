// Label volumes: round trips, axes that run backwards or in another order, units, oblique grids,
// damage.
#include "support/reader.h"

#include "io/volume/volume.h"

#include <math.h>
#include <stdio.h>
#if defined(SN_WITH_ZLIB)
#include <zlib.h>
#endif

enum { NX = 4, NY = 3, NZ = 2, CELLS = NX * NY * NZ };

static sinew_label_grid make_grid(uint16_t labels[CELLS]) {
    for (int i = 0; i < CELLS; i++) {
        labels[i] = (uint16_t)(i % 5 == 0 ? 0 : 100 * i);
    }

    return (sinew_label_grid){.cells = {NX, NY, NZ},
                              .spacing = {0.001, 0.002, 0.0025},
                              .lower = {-0.1, 0.5, 0.25},
                              .labels16 = labels};
}

static void read_or_fail(sinew_context *context, const sn_source *source, double unit,
                         sn_volume_file *file) {
    sn_volume_options options = {.unit = unit};
    if (sn_volume_read(context, source, &options, file) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }
}

static void check_same(const sinew_label_grid *found, const sinew_label_grid *expected,
                       double tolerance) {
    for (int k = 0; k < 3; k++) {
        assert_int_equal(found->cells[k], expected->cells[k]);
        test_close("spacing", found->spacing[k], expected->spacing[k], tolerance);
        test_close("lower", found->lower[k], expected->lower[k], tolerance);
    }
    assert_memory_equal(found->labels16, expected->labels16, CELLS * sizeof(uint16_t));
}

static void test_round_trips(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    uint16_t labels[CELLS];
    sinew_label_grid grid = make_grid(labels);

    sinew_status (*writers[])(const sinew_label_grid *, sn_buffer *) = {sn_write_nrrd,
                                                                        sn_write_nifti};

    const char *names[] = {"a.nrrd", "a.nii"};
    for (int i = 0; i < 2; i++) {
        sn_buffer out = sn_buffer_create(context);
        assert_int_equal(writers[i](&grid, &out), SINEW_OK);

        sn_volume_file file;
        sn_source source = {.name = names[i], .data = out.data, .size = out.size};

        read_or_fail(context, &source, 0, &file);
        check_same(&file.grid, &grid, i ? 1e-7 : 1e-15); // NIfTI holds floats
        assert_false(file.askew);
        assert_int_equal(file.largest_label, 2300);
        assert_int_equal(file.inside_count, 19);
        sn_volume_file_destroy(&file);
        sn_buffer_destroy(&out);
    }

    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

#define HEAD                                                                                       \
    "NRRD0005\n# c\nkey:=value\ntype: uchar\ndimension: 3\nsizes: 2 3 1\nencoding: text\nspace "   \
    "units: \"mm\" \"mm\" \"mm\"\n"

// The same six cells, stored in several orders, become the same grid.
static void test_axes(void **state) {
    (void)state;
    const struct {
        const char *name, *text;
        double lower[3];
    } cases[] = {
        {"plain",
         HEAD "space: RAS\nspace directions: (1,0,0) (0,2,0) (0,0,3)\nspace origin: "
              "(0.5,1,1.5)\n\n1 2 3 4 5 6\n",
         {0, 0, 0}},
        {"x backwards",
         HEAD "space: RAS\nspace directions: (-1,0,0) (0,2,0) (0,0,3)\nspace origin: "
              "(1.5,1,1.5)\n\n2 1 4 3 6 5\n",
         {0, 0, 0}},
        {"LPS",
         HEAD "space: LPS\nspace directions: (-1,0,0) (0,-2,0) (0,0,3)\nspace origin: "
              "(-0.5,-1,1.5)\n\n1 2 3 4 5 6\n",
         {0, 0, 0}},
        {"both backwards in LPS",
         HEAD "space: left-posterior-superior\nspace directions: (1,0,0) (0,2,0) (0,0,3)\nspace "
              "origin: (-1.5,-5,1.5)\n\n6 5 "
              "4 3 2 1\n",
         {0, 0, 0}},
        {"spacings only", HEAD "spacings: 1 2 3\n\n1 2 3 4 5 6\n", {0, 0, 0}},
        {"y first",
         "NRRD0004\ntype: float\ndimension: 4\nsizes: 1 3 2 1\nencoding: ascii\nspace: RAS\nspace "
         "units: \"mm\" \"mm\" "
         "\"mm\"\n"
         "space directions: none (0,2,0) (1,0,0) (0,0,3)\nspace origin: (0.5,1,1.5)\n\n1 3 5 2 4 "
         "6.0\n",
         {0, 0, 0}},
        {"a.mha",
         "ObjectType = Image\nNDims = 3\nBinaryData = False\nDistanceUnits = mm\nElementType = "
         "MET_UCHAR\nDimSize = 2 3 1\n"
         "ElementSpacing = 1 2 3\nOffset = -1.5 -5 1.5\nElementDataFile = LOCAL\n6 5 4 3 2 1\n",
         {0, 0, 0}},
    };

    sinew_context *context = test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sn_source source = {
            .name = cases[i].name, .data = cases[i].text, .size = strlen(cases[i].text)};
        sn_volume_file file;

        read_or_fail(context, &source, 0, &file);
        static const int32_t cells[] = {2, 3, 1};
        for (int k = 0; k < 3; k++) {
            if (file.grid.cells[k] != cells[k]) {
                fail_msg("%s: %d cells along %d", cases[i].name, file.grid.cells[k], k);
            }
            test_close(cases[i].name, file.grid.spacing[k], 1e-3 * (k + 1), 1e-15);
            test_close(cases[i].name, file.grid.lower[k], cases[i].lower[k], 1e-15);
        }

        for (int k = 0; k < 6; k++) {
            if (file.grid.labels16[k] != k + 1) {
                fail_msg("%s: cell %d has label %d", cases[i].name, k, file.grid.labels16[k]);
            }
        }

        sn_volume_file_destroy(&file);
    }

    sinew_context_destroy(context);
}

// A grid turned by 30 degrees about z keeps its axes and reports the rotation: cell centres come
// out where the header puts them.
static void test_oblique(void **state) {
    (void)state;
    const char *text = HEAD "space: RAS\nspace directions: (0.86602540378443865,0.5,0) "
                            "(-1,1.7320508075688772,0) (0,0,3)\n"
                            "space origin: (10,20,30)\n\n1 2 3 4 5 6\n";
    sinew_context *context = test_context(1);
    sn_source source = {.name = "a.nrrd", .data = text, .size = strlen(text)};
    sn_volume_file file;

    read_or_fail(context, &source, 0, &file);
    assert_true(file.askew);

    double cell[3] = {1, 2, 0};
    double world[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        double middle = file.grid.lower[k] + (cell[k] + 0.5) * file.grid.spacing[k];
        for (int c = 0; c < 3; c++) {
            world[c] += middle * file.axes[3 * k + c];
        }
    }

    test_close("x", world[0], 1e-3 * (10 + 0.86602540378443865 - 2), 1e-12);
    test_close("y", world[1], 1e-3 * (20 + 0.5 + 2 * 1.7320508075688772), 1e-12);
    test_close("z", world[2], 0.03, 1e-12);
    sn_volume_file_destroy(&file);
    sinew_context_destroy(context);
}

// NIfTI's other ways to say where the grid is, the other byte order, a slope, and packing.
static void test_nifti_forms(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    uint16_t labels[CELLS];
    sinew_label_grid grid = make_grid(labels);
    sn_buffer out = sn_buffer_create(context);

    assert_int_equal(sn_write_nifti(&grid, &out), SINEW_OK);
    sn_source source = {.name = "a.nii", .data = out.data, .size = out.size};
    sn_volume_file file;

    // The qform: a half turn about z (quaternion 0 0 1), so that x and y run backwards, from where
    // the last cell lies.
    float values[6] = {0, 0, 1, -95.5f - 4, 0, 0};

    values[3] = (float)(1e3 * (grid.lower[0] + 3.5 * grid.spacing[0]));
    values[4] = (float)(1e3 * (grid.lower[1] + 2.5 * grid.spacing[1]));
    values[5] = (float)(1e3 * (grid.lower[2] + 0.5 * grid.spacing[2]));
    out.data[254] = 0; // no sform
    out.data[252] = 1; // qform
    memcpy(out.data + 256, values, sizeof values);
    read_or_fail(context, &source, 0, &file);

    for (int k = 0; k < 3; k++) {
        test_close("spacing", file.grid.spacing[k], grid.spacing[k], 1e-8);
        test_close("lower", file.grid.lower[k], grid.lower[k], 1e-7);
    }

    for (int y = 0; y < NY; y++) {
        for (int x = 0; x < NX; x++) {
            assert_int_equal(file.grid.labels16[x + NX * y],
                             labels[NX - 1 - x + NX * (NY - 1 - y)]);
        }
    }

    sn_volume_file_destroy(&file);
    out.data[252] = 0; // neither: the sizes of cells alone, and the corner at 0

    float half = 0.5f;
    memcpy(out.data + 112, &half, 4); // slope
    read_or_fail(context, &source, 0, &file);
    assert_int_equal(file.grid.labels16[1], 50);
    test_close("lower", file.grid.lower[1], 0, 0);
    sn_volume_file_destroy(&file);
    out.data[123] = 0; // no unit
    assert_int_equal(sn_volume_read(context, &source, NULL, &file), SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context), "does not say in which unit"));
    sn_volume_file_destroy(&file);
    read_or_fail(context, &source, 0.01, &file); // the caller says centimetres
    test_close("spacing", file.grid.spacing[0], 0.01, 1e-9);
    sn_volume_file_destroy(&file);
#if defined(SN_WITH_ZLIB)
    sn_buffer_clear(&out);
    assert_int_equal(sn_write_nifti(&grid, &out), SINEW_OK);

    z_stream stream = {0};
    uint8_t packed[2000];

    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, 0), Z_OK);
    stream.next_in = (Bytef *)out.data;
    stream.avail_in = (uInt)out.size;
    stream.next_out = packed;
    stream.avail_out = sizeof packed;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    source = (sn_source){.name = "a.nii.gz", .data = packed, .size = stream.total_out};
    deflateEnd(&stream);
    read_or_fail(context, &source, 0, &file);
    check_same(&file.grid, &grid, 1e-7);
    sn_volume_file_destroy(&file);
#endif
    sn_buffer_destroy(&out);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

static bool fetch_raw(void *user, const char *name, const void **data, size_t *size) {
    if (strcmp(name, "cells.raw") != 0) {
        return false;
    }
    *data = user;
    *size = 14;
    return true;
}

static void test_detached(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    uint8_t data[] = {9, 9, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6};
    const char *headers[] = {
        "NRRD0004\ntype: ushort\nendian: big\ndimension: 3\nsizes: 2 3 1\nencoding: raw\nbyte "
        "skip: -1\n"
        "units: \"m\" \"m\" \"m\"\nspacings: 1 1 1\ndata file: cells.raw\n",
        "NDims = 3\nElementType = MET_USHORT\nElementByteOrderMSB = True\nDistanceUnits = "
        "m\nDimSize = 2 3 1\n"
        "TransformMatrix = -1 0 0 0 -1 0 0 0 1\nHeaderSize = 2\nElementDataFile = cells.raw\n"};
    const char *names[] = {"a.nhdr", "a.mhd"};

    for (int i = 0; i < 2; i++) {
        sn_source source = {names[i], headers[i], strlen(headers[i]), fetch_raw, data, false};
        sn_volume_file file;

        read_or_fail(context, &source, 0, &file);

        for (int k = 0; k < 6; k++) {
            assert_int_equal(file.grid.labels16[k], k + 1);
        }

        sn_volume_file_destroy(&file);
        source.fetch = NULL;
        assert_int_equal(sn_volume_read(context, &source, NULL, &file), SINEW_NOT_FOUND);
        sn_volume_file_destroy(&file);
    }

    sinew_context_destroy(context);
}

// Names of types, the longest and those that differ by a word.
static void test_types(void **state) {
    (void)state;
    static const char *const names[] = {"signed char",
                                        "short int",
                                        "signed short int",
                                        "unsigned short int",
                                        "signed int",
                                        "unsigned int",
                                        "long long int",
                                        "signed long long",
                                        "signed long long int",
                                        "unsigned long long",
                                        "unsigned long long int",
                                        "double"};

    sinew_context *context = test_context(1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[256];
        snprintf(
            text, sizeof text,
            "NRRD0004\ntype: %s\ndimension: 3\nsizes: 1 1 1\nencoding: text\nunits: \"m\"\n\n7\n",
            names[i]);
        sn_source source = {.name = "a.nrrd", .data = text, .size = strlen(text)};
        sn_volume_file file;
        read_or_fail(context, &source, 0, &file);
        assert_int_equal(file.grid.labels16[0], 7);
        sn_volume_file_destroy(&file);
    }

    sinew_context_destroy(context);
}

// A MetaImage whose numbers are packed, as zlib writes them when it does not compress.
static void test_packed_meta(void **state) {
    (void)state;
    static const char head[] =
        "NDims = 3\nElementType = MET_USHORT\nElementByteOrderMSB = True\nDistanceUnits = m\n"
        "DimSize = 2 3 1\nTransformMatrix = -1 0 0 0 -1 0 0 0 1\nCompressedData = True\n"
        "ElementDataFile = LOCAL\n";
    static const uint8_t packed[] = {0x78, 0x01, 0x01, 0x0c, 0x00, 0xf3, 0xff, 0x00,
                                     0x01, 0x00, 0x02, 0x00, 0x03, 0x00, 0x04, 0x00,
                                     0x05, 0x00, 0x06, 0x00, 0x67, 0x00, 0x16};
    uint8_t bytes[sizeof head - 1 + sizeof packed];

    memcpy(bytes, head, sizeof head - 1);
    memcpy(bytes + sizeof head - 1, packed, sizeof packed);

    sinew_context *context = test_context(1);
    sn_source source = {.name = "a.mha", .data = bytes, .size = sizeof bytes};
    sn_volume_file file;

    read_or_fail(context, &source, 0, &file);
    for (int k = 0; k < 6; k++) {
        assert_int_equal(file.grid.labels16[k], k + 1);
    }

    sn_volume_file_destroy(&file);
    source.size -= 8;
    assert_int_equal(sn_volume_read(context, &source, NULL, &file), SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context), "its compressed data ends too early"));
    sn_volume_file_destroy(&file);
    sinew_context_destroy(context);
}

static sinew_status read_limited(sinew_context *context, const sn_source *source, size_t limit) {
    sn_volume_file file;
    sinew_status status =
        sn_volume_read(context, source, &(sn_volume_options){.memory_limit = limit}, &file);
    sn_volume_file_destroy(&file);
    return status;
}

static sinew_status read_volume(sinew_context *context, const sn_source *source) {
    return read_limited(context, source, 0);
}

static sinew_status read_small_volume(sinew_context *context, const sn_source *source) {
    return read_limited(context, source, 1 << 24);
}

static void test_refusals(void **state) {
    (void)state;
    const test_bad_file cases[] = {
        {"a.xyz", "hello", SINEW_UNSUPPORTED, "no volume file that is known here"},
        {"a.nii", "hello", SINEW_INVALID_DATA, "5 bytes; a NIfTI header has 348 or 540"},
        {"a.nrrd", HEAD "\n1 2 3 4 5\n", SINEW_INVALID_DATA, "expected a number"},
        {"a.nrrd", HEAD "\n1 2 3 4 5 6.5\n", SINEW_INVALID_DATA,
         "cell 1 2 0 has the value 6.5; labels are whole numbers"},
        {"a.nrrd", HEAD "\n1 2 3 4 5 -6\n", SINEW_INVALID_DATA, "has the value -6"},
        {"a.nrrd", HEAD "\n1 2 3 4 5 nan\n", SINEW_INVALID_DATA, "found \"nan\""},
        {"a.nrrd", "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 1 1 1\nencoding: text\n\n1\n",
         SINEW_INVALID_DATA, "in which unit"},
        {"a.nrrd",
         "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 99999 99999 99999\nencoding: raw\nunits: "
         "\"mm\"\n\n1\n",
         SINEW_OUT_OF_MEMORY, "more than the limit"},
        {"a.nrrd",
         "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 999 999 99\nencoding: raw\nunits: "
         "\"mm\"\n\n1\n",
         SINEW_INVALID_DATA, "the data ends too early: 2 bytes for 98802099 cells"},
        {"a.nrrd",
         "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 1 0 1\nencoding: raw\nunits: \"mm\"\n\n1\n",
         SINEW_INVALID_DATA, "0 cells along axis 1"},
        {"a.nrrd", "NRRD0004\nunits: \"ell\"\n", SINEW_INVALID_DATA,
         "a.nrrd:2:8: the unit \"ell\" is not known; valid are m,"},
        {"a.nrrd", "NRRD0004\nunits: \"mm\" \"cm\" \"mm\"\n", SINEW_INVALID_DATA,
         "the unit \"cm\" differs from the other"},
        {"a.nrrd", "NRRD0004\ntype: block\n", SINEW_INVALID_DATA,
         "a.nrrd:2:7: unknown type \"block\""},
        {"a.nrrd", "NRRD0004\nencoding: bzip2\n", SINEW_UNSUPPORTED,
         "the encoding \"bzip2\" is not read"},
        {"a.nrrd", "NRRD0004\nsizes: 1 2 3\n", SINEW_INVALID_DATA, "dimension must come before"},
        {"a.nrrd", HEAD "space directions: (1,0,0) (1,1,0) (0,0,1)\n\n1 2 3 4 5 6\n",
         SINEW_UNSUPPORTED, "not at right angles"},
        {"a.nrrd", HEAD "space directions: (1,0,0) (0,0,0) (0,0,1)\n\n1 2 3 4 5 6\n",
         SINEW_INVALID_DATA, "axis 1 has cells of length 0"},
        {"a.nrrd",
         "NRRD0004\ntype: short\ndimension: 3\nsizes: 1 1 1\nencoding: raw\nunits: \"mm\"\n\n11\n",
         SINEW_INVALID_DATA, "has no endian"},
        {"a.mha", "NDims = 3\n", SINEW_INVALID_DATA, "the header ends without ElementDataFile"},
        {"a.mha", "NDims = 2\n", SINEW_INVALID_DATA, "three dimensions"},
    };

    test_bad_files(read_volume, cases, sizeof cases / sizeof *cases);
}

static void test_truncated_and_damaged(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    uint16_t labels[CELLS];
    sinew_label_grid grid = make_grid(labels);
    const char *names[] = {"a.nii", "a.nrrd", "b.nrrd"};

    for (int f = 0; f < 3; f++) {
        sn_buffer out = sn_buffer_create(context);
        if (f == 0) {
            assert_int_equal(sn_write_nifti(&grid, &out), SINEW_OK);
        }
        if (f == 1) {
            assert_int_equal(sn_write_nrrd(&grid, &out), SINEW_OK);
        }

        if (f == 2) {
            sn_buffer_add_text(&out, HEAD "space directions: (1,0,0) (0,2,0) (0,0,3)\nspace "
                                          "origin: (0,0,0)\n\n1 2 3 4 5 6\n");
        }

        test_damage(read_small_volume, names[f], &out, "0129-. ,(\n", 5000);
        sn_buffer_destroy(&out);
    }

    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    const char *text = HEAD "\n1 2 3 4 5 6\n";
    for (int64_t n = 1;; n++) {
        test_allocator allocator = {.fail_at = n};
        sinew_context *context = test_context_failing(&allocator);
        sinew_status status = SINEW_OUT_OF_MEMORY;

        if (context) {
            sn_source source = {.name = "a.nrrd", .data = text, .size = strlen(text)};
            sn_volume_file file;
            status = sn_volume_read(context, &source, NULL, &file);
            sn_volume_file_destroy(&file);
            assert_int_equal(context->bytes_in_use, 0);
        }

        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        if (status == SINEW_OK) {
            return;
        }

        assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        assert_true(n < 50);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_oblique),
        cmocka_unit_test(test_nifti_forms),
        cmocka_unit_test(test_detached),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_packed_meta),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_truncated_and_damaged),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
