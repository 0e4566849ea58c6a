"""A mesh as a solid: a surface file, tetrahedra with labels for painted stiffness, a scene."""
# SPDX-License-Identifier: Apache-2.0
import json

from mathutils import Matrix, Vector, kdtree

from . import result

LEVELS = 12  # of painted stiffness


def group_weights(object, name):
    """The weight of each vertex in a vertex group; zeros without one."""
    group = object.vertex_groups.get(name) if name else None
    weights = [0.0] * len(object.data.vertices)
    if group:
        for vertex in object.data.vertices:
            for entry in vertex.groups:
                if entry.group == group.index:
                    weights[vertex.index] = entry.weight
    return weights


def write_surface(object, path):
    """The mesh in the world, as PLY, whose vertices are those of the mesh in their order. [m]"""
    mesh = object.data
    mesh.calc_loop_triangles()
    with open(path, "w", encoding="ascii") as file:
        file.write("ply\nformat ascii 1.0\nelement vertex %d\nproperty double x\nproperty double y\nproperty double z\n"
                   "element face %d\nproperty list uchar int vertex_indices\nend_header\n"
                   % (len(mesh.vertices), len(mesh.loop_triangles)))
        for vertex in mesh.vertices:
            file.write("%.9g %.9g %.9g\n" % tuple(object.matrix_world @ vertex.co))
        for triangle in mesh.loop_triangles:
            file.write("3 %d %d %d\n" % tuple(triangle.vertices))


def read_medit(path):
    """Nodes, and tetrahedra with their label, counted from 0."""
    words = open(path, encoding="ascii").read().split()
    nodes, tets = [], []
    at = words.index("Vertices")
    for i in range(int(words[at + 1])):
        nodes.append(Vector([float(x) for x in words[at + 2 + 4 * i:at + 5 + 4 * i]]))
    at = words.index("Tetrahedra")
    for i in range(int(words[at + 1])):
        tets.append([int(x) - 1 for x in words[at + 2 + 5 * i:at + 6 + 5 * i]])
    return nodes, tets


def write_medit(path, nodes, tets, labels):
    with open(path, "w", encoding="ascii") as file:
        file.write("MeshVersionFormatted 2\nDimension 3\nVertices\n%d\n" % len(nodes))
        for p in nodes:
            file.write("%.9g %.9g %.9g 0\n" % tuple(p))
        file.write("Tetrahedra\n%d\n" % len(tets))
        for tet, label in zip(tets, labels):
            file.write("%d %d %d %d %d\n" % (*(n + 1 for n in tet), label))
        file.write("End\n")


def find_nearest(object):
    """A tree of the vertices in the world."""
    tree = kdtree.KDTree(len(object.data.vertices))
    for vertex in object.data.vertices:
        tree.insert(object.matrix_world @ vertex.co, vertex.index)
    tree.balance()
    return tree


def label_tets(object, nodes, tets):
    """A level of stiffness for each tet, from 1 on, by the weight of the nearest vertices."""
    weights, tree = group_weights(object, object.sinew.stiffness_group), find_nearest(object)
    of_node = [weights[tree.find(p)[1]] for p in nodes]
    return [1 + round((LEVELS - 1) * sum(of_node[n] for n in tet) / 4) for tet in tets]


def contains(nodes, tet, p):
    """How far inside a tet a point is: its smallest barycentric coordinate."""
    origin = nodes[tet[3]]
    matrix = Matrix([nodes[n] - origin for n in tet[:3]]).transposed()
    if abs(matrix.determinant()) < 1e-30:
        return -float("inf")
    shares = matrix.inverted() @ (p - origin)
    return min(*shares, 1 - sum(shares))


def find_pinned(object, nodes, tets):
    """The nodes of the tets that carry pinned vertices."""
    weights = group_weights(object, object.sinew.pins)
    tree = kdtree.KDTree(len(tets))
    for i, tet in enumerate(tets):
        tree.insert(sum((nodes[n] for n in tet), Vector()) / 4, i)
    tree.balance()

    pinned = set()
    for vertex in object.data.vertices:
        if weights[vertex.index] > 0.5:
            p = object.matrix_world @ vertex.co
            near = [i for _, i, _ in tree.find_n(p, 40)]
            pinned.update(tets[max(near, key=lambda i: contains(nodes, tets[i], p))])
    return sorted(pinned)


def make_scene(context, object, pinned):
    """The scene as JSON; obstacles are held rigid bodies."""
    settings, scene = object.sinew, context.scene
    fps = scene.render.fps / scene.render.fps_base
    images = scene.frame_end - scene.frame_start
    material = {"law": "stable-neo-hookean", "young": settings.young, "poisson": settings.poisson, "density": settings.density}
    body = {"name": "soft", "shape": {"file": "soft.mesh"}, "surface": "surface.ply", "material": material,
            "damping": {"stiffness": settings.damping}}
    if settings.stiffness_group:
        body["materials"] = {str(1 + k): {**material, "young": settings.young * settings.factor ** (k / (LEVELS - 1))}
                             for k in range(LEVELS)}
    if pinned:
        body["fixed"] = [{"nodes": pinned}]

    gravity = list(scene.gravity) if scene.use_gravity else [0, 0, 0]
    made = {"version": 1, "step": 1 / (fps * settings.substeps), "steps": images * settings.substeps, "gravity": gravity,
            "bodies": [body], "output": {"formats": ["ply", "pc2"], "every": settings.substeps}}
    obstacles = [o for o in scene.objects if o.type == "MESH" and o.sinew.collides and o != object]
    for k, obstacle in enumerate(obstacles):
        made["bodies"].append({"name": f"obstacle {k}", "model": "rigid", "shape": {"file": f"obstacle{k}.ply"},
                               "rigid": {"held": True}})
    if obstacles or settings.ground:
        made["contact"] = {"friction": settings.friction, "ground": settings.ground}
    return made, obstacles


def steps(context, object, options):
    """Of the job: fill the mesh, simulate, read the result."""

    def fill(job):
        write_surface(object, job.path("surface.ply"))
        return [job.program, "tetrahedralize", "surface.ply", "-o", "tets.mesh", "--tets", str(object.sinew.tets)], 0

    def simulate(job):
        nodes, tets = read_medit(job.path("tets.mesh"))
        write_medit(job.path("soft.mesh"), nodes, tets, label_tets(object, nodes, tets))
        scene, obstacles = make_scene(context, object, find_pinned(object, nodes, tets))
        for k, obstacle in enumerate(obstacles):
            write_surface(obstacle, job.path(f"obstacle{k}.ply"))
        with open(job.path("scene.json"), "w", encoding="utf-8") as file:
            json.dump(scene, file)
        images = context.scene.frame_end - context.scene.frame_start + 1
        return [job.program, "run", "scene.json", "-o", "out", *options], images

    def read(job):
        images = result.read_pc2(job.path("out/soft.pc2"))
        result.show(context, object, images)

    return [fill, simulate, read]
