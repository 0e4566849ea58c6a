"""sinew run --film: numbered images, an animated PNG of the same pictures, a video by ffmpeg or a word about it."""
import os
import struct
import zlib

from program import folder, main, run

SCENE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "bar.json")
OPTIONS = ("-n", 4, "-f", "csv", "-s", "output.every=1", "-s", "preview={\"size\":[40,30]}")


def chunks(path):
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, found = 8, []
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        content = data[at + 8:at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(kind + content), "checksums are right"
        found.append((kind, content))
        at += size + 12
    return found


def film(place, *options, expect=0):
    result = run("run", SCENE, "-o", place + "/out", *OPTIONS, *options)
    assert result.returncode == expect, result.stderr
    return result


def test_animated_png():
    with folder() as place:
        film(place, "--film")
        pictures = [b"".join(c for kind, c in chunks(f"{place}/out/film_{k:05d}.png") if kind == b"IDAT") for k in range(5)]
        result = film(place, "--film", place + "/bar.png")
        assert "film: " in result.stdout and not [n for n in os.listdir(place + "/out") if n.startswith("film_")]
        parts = chunks(place + "/bar.png")
        kinds = [kind for kind, _ in parts]
        assert kinds[:3] == [b"IHDR", b"acTL", b"fcTL"] and kinds[-1] == b"IEND" and kinds.count(b"fcTL") == 5
        assert struct.unpack(">II", parts[1][1]) == (5, 0)
        # Numbered without gaps, and each picture is the one of the numbered file.
        numbers = [struct.unpack_from(">I", content)[0] for kind, content in parts if kind in (b"fcTL", b"fdAT")]
        assert numbers == list(range(len(numbers)))
        images = []
        for kind, content in parts:
            if kind == b"fcTL":
                images.append(b"")
            elif kind in (b"IDAT", b"fdAT"):
                images[-1] += content if kind == b"IDAT" else content[4:]
        assert images == pictures


def test_without_ffmpeg_the_images_remain():
    with folder() as place:
        before = os.environ["PATH"]
        os.environ["PATH"] = place
        try:
            result = film(place, "--film", place + "/bar.mp4")
        finally:
            os.environ["PATH"] = before
        assert "ffmpeg is not installed" in result.stderr, result.stderr
        assert len([n for n in os.listdir(place + "/out") if n.startswith("film_")]) == 5


def test_ffmpeg_gets_the_pictures():
    """A program in its place keeps its arguments and writes the file."""
    with folder() as place:
        with open(place + "/ffmpeg", "w") as file:
            file.write('#!/bin/sh\nfor last; do :; done\necho "$@" > "$last"\n')
        os.chmod(place + "/ffmpeg", 0o755)
        before = os.environ["PATH"]
        os.environ["PATH"] = place + ":/usr/bin:/bin"
        try:
            film(place, "--film", place + "/bar.gif")
        finally:
            os.environ["PATH"] = before
        words = open(place + "/bar.gif").read().split()
        assert place + "/out/film_%05d.png" in words and words[words.index("-framerate") + 1] == "100", words


def test_other_endings_are_refused():
    with folder() as place:
        assert ".mp4" in film(place, "--film", place + "/bar.txt", expect=1).stderr


with folder() as trial:
    without_pictures = "libpng" in run("run", SCENE, "-o", trial + "/out", *OPTIONS, "--film").stderr
if without_pictures:
    print("skipped: films need libpng")
    main([test_other_endings_are_refused])
else:
    main([value for name, value in list(globals().items()) if name.startswith("test_")])
