"""What the types of C do not say: how long arrays are, and which function a callback has.

Expressions are C. In those about structs `s` is the struct; in those about functions the parameters have their own names, and
SIZE(x, i) is a length that was remembered when the handle x was made (REMEMBERED). A pointer that is not listed here stops
generate.py, so that a new function cannot be forgotten.
"""

# (struct, field): numbers per row, the field that receives the number of rows or None, rows that the library reads or None.
FIELDS = {
    ("sinew_mesh", "points"): (3, "point_count", "s->point_count"),
    ("sinew_mesh", "indices"): (1, None, "(int64_t)s->element_count * sinew_element_node_count(s->element)"),
    ("sinew_mesh", "labels"): (1, None, "s->element_count"),
    ("sinew_binding_def", "joints"): (1, None, None),  # see CHECKS
    ("sinew_body_def", "material_labels"): (1, None, "s->material_count"),
    ("sinew_body_def", "material_axes"): (9, None, "s->mesh ? s->mesh->element_count : 0"),
    ("sinew_load_def", "triangles"): (1, "triangle_count", None),
    ("sinew_load_def", "nodes"): (1, "node_count", None),
    ("sinew_curve_def", "points"): (3, "point_count", "s->point_count"),
    ("sinew_curve_def", "weights"): (1, None, "s->point_count"),
    ("sinew_curve_def", "knots"): (1, None, "s->point_count + (s->point_count > 3 ? 3 : s->point_count - 1) + 1"),
    ("sinew_weights_def", "values"): (1, None, None),  # see CHECKS
    ("sinew_placement_def", "fixed"): (3, "fixed_count", "s->fixed_count"),
    ("sinew_frame_body_def", "material_labels"): (1, None, "s->material_count"),
    ("sinew_frame_support_def", "vertices"): (1, "vertex_count", "s->vertex_count"),
    ("sinew_animation_def", "times"): (1, "image_count", "s->image_count"),
    ("sinew_animation_def", "points"): (3, None, "s->surface ? s->surface->point_count : 0"),
    ("sinew_skin_file_def", "starts"): (1, None, "s->surface ? s->surface->point_count + 1 : 0"),
    ("sinew_skin_file_def", "joints"): (1, None, "s->surface && s->starts ? s->starts[s->surface->point_count] : 0"),
    ("sinew_skin_file_def", "weights"): (1, None, "s->surface && s->starts ? s->starts[s->surface->point_count] : 0"),
    ("sinew_skin_file_def", "joint_rest"): (3, "joint_count", "s->joint_count"),
    ("sinew_skin_file_def", "times"): (1, "image_count", "s->image_count"),
    ("sinew_skin_file_def", "poses"): (1, None, "(int64_t)s->image_count * s->joint_count"),
    ("sinew_values", "values"): (1, None, None),  # see CHECKS
    ("sinew_picture_surface", "points"): (3, None, "s->mesh ? s->mesh->point_count : 0"),
    ("sinew_picture_surface", "values"): (1, None, "s->mesh ? s->mesh->point_count : 0"),
    ("sinew_plot_series", "x"): (1, None, "s->count"),
    ("sinew_plot_series", "y"): (1, "count", "s->count"),
    ("sinew_plot_series", "error"): (1, None, "s->count"),
    ("sinew_voxel_mesh_def", "voxels"): (1, None, "(int64_t)s->cells[0] * s->cells[1] * s->cells[2]"),
    ("sinew_pbd_def", "tet_materials"): (1, None, None),
    ("sinew_pbd_def", "frames"): (9, None, None),
    ("sinew_pbd_def", "kinematic"): (1, None, None),
    ("sinew_pbd_def", "cores"): (1, None, None),
    ("sinew_rigid_body_def", "center"): (3, None, "1"),
    ("sinew_rigid_body_def", "inertia"): (6, None, "1"),
    ("sinew_motion_track", "times"): (1, "key_count", "s->key_count"),
    ("sinew_motion_track", "values"): (1, None, "(int64_t)s->key_count * (s->rotates ? 4 : 3)"),
    ("sinew_motion_def", "frames"): (1, None, "(int64_t)s->joint_count * s->frame_count"),
    ("sinew_label_grid", "labels8"): (1, None, "(int64_t)s->cells[0] * s->cells[1] * s->cells[2]"),
    ("sinew_label_grid", "labels16"): (1, None, "(int64_t)s->cells[0] * s->cells[1] * s->cells[2]"),
    ("sinew_layers_def", "thickness"): (1, "count", "s->count"),
    ("sinew_layers_def", "labels"): (1, None, "s->count"),
}

# (struct, field) of a list of structs or strings: the field with their number, where it is not the singular + "_count".
LISTS = {
    ("sinew_skin_file_def", "poses"): None,
    ("sinew_motion_def", "frames"): None,
    ("sinew_plot_panel", "series"): "series_count",
    ("sinew_body_def", "materials"): "material_count",
}

# Fields that have no meaning in Python: memory and threads are C's.
LEFT_OUT = {"sinew_context_def": {"allocator", "tasks"}, "sinew_source": {"fetch_user"}, "sinew_recording_def": {"write_user"},
            "sinew_soften_def": {"cache_user"}, "sinew_logger": {"user"}, "sinew_progress": {"user"}, "sinew_custom_material": {"user"}}
STRUCTS_LEFT_OUT = {"sinew_allocator", "sinew_tasks"}

# (struct, field) of a function: the C function that calls Python, and the field with its user pointer.
CALLBACKS = {
    ("sinew_logger", "write"): ("callback_log", "user"),
    ("sinew_progress", "report"): ("callback_progress", "user"),
    ("sinew_custom_material", "evaluate"): ("callback_evaluate", "user"),
    ("sinew_source", "fetch"): ("callback_fetch", "fetch_user"),
    ("sinew_recording_def", "write"): ("callback_write", "write_user"),
    ("sinew_soften_def", "cache"): ("callback_cache", "cache_user"),
}

NODES, SURFACE = "sinew_body_get_node_count(body)", "surface_points(body)"

# (function, parameter): rows, numbers per row. For inputs, what the array must have; for outputs, what is returned.
ARRAYS = {
    ("sinew_autorig_estimate_error", "errors"): ("count", 0),
    ("sinew_body_set_positions", "positions"): (NODES, 3),
    ("sinew_body_set_velocities", "velocities"): (NODES, 3),
    ("sinew_body_move_nodes", "targets"): ("count", 3),
    ("sinew_body_set_material_axes", "axes"): ("sinew_body_get_element_count(body)", 9),
    ("sinew_body_set_forces", "forces"): ("count", 3),
    ("sinew_body_compute_elastic_forces", "forces"): (NODES, 3),
    ("sinew_body_compute_reactions", "forces"): (NODES, 3),
    ("sinew_body_compute_element_states", "states"): ("sinew_body_get_element_count(body)", 0),
    ("sinew_body_compute_node_stresses", "stresses"): (NODES, 6),
    ("sinew_body_compute_modes", "frequencies"): ("count", 0),
    ("sinew_body_compute_modes", "shapes"): (f"(int64_t)count * mode_size(body)", 0),
    ("sinew_body_compute_present_modes", "frequencies"): ("count", 0),
    ("sinew_body_compute_present_modes", "shapes"): (f"(int64_t)count * mode_size(body)", 0),
    ("sinew_body_compute_contact_forces", "forces"): (SURFACE, 3),
    ("sinew_body_compute_contact_forces", "areas"): (SURFACE, 0),
    ("sinew_curve_compute_frames", "points"): ("count", 3),
    ("sinew_curve_compute_frames", "axes"): ("count", 9),
    ("sinew_field_create_from_axes", "axes"): ("mesh ? mesh->element_count : 0", 9),
    ("sinew_field_create_from_directions", "directions"): ("mesh ? mesh->element_count : 0", 3),
    ("sinew_place_nodes", "positions"): ("def ? def->count : 0", 3),
    ("sinew_frame_body_get_weights", "weights"): ("sinew_frame_body_get_node_count(body)", 0),
    ("sinew_frame_body_get_surface_weights", "starts"): (f"{SURFACE} + 1", 0),
    ("sinew_frame_body_get_surface_weights", "nodes"): (f"starts ? starts[{SURFACE}] : 0", 0),
    ("sinew_frame_body_get_surface_weights", "weights"): (f"starts ? starts[{SURFACE}] : 0", 0),
    ("sinew_frame_body_compute_regions", "samples"): ("sinew_voxels_get_count(sinew_frame_body_get_voxels(body))", 0),
    ("sinew_field_get_guides", "points"): ("result", 3),
    ("sinew_field_get_guides", "axes"): ("result", 9),
    ("sinew_scene_compute_values", "values"): ("scene_points(scene, body)", 0),
    ("sinew_scene_compute_supports", "reports"): ("scene_supports(scene, body) + 1", 0),
    ("sinew_variant_compute_points", "points"): ("SIZE(self_handle->owner, 0)", 3),
    ("sinew_volume_file_sample", "values"): ("sinew_voxels_get_count(voxels)", 0),
    ("sinew_voxels_write_values", "values"): ("sinew_voxels_get_count(voxels)", 1),
    ("sinew_mesh_create_surface", "nodes"): ("surface ? surface->point_count : 0", 0),
    ("sinew_mesh_compute_normals", "points"): ("surface ? surface->point_count : 0", 3),
    ("sinew_mesh_compute_normals", "normals"): ("surface ? surface->point_count : 0", 3),
    ("sinew_mesh_locate_points", "elements"): ("count", 0),
    ("sinew_mesh_locate_points", "weights"): ("(int64_t)count * (mesh ? sinew_element_node_count(mesh->element) : 0)", 0),
    ("sinew_mesh_locate_points", "distances"): ("count", 0),
    ("sinew_embedding_get_elements", "distances"): ("SIZE(self_handle, 0)", 0),
    ("sinew_embedding_compute_points", "mesh_points"): ("SIZE(self_handle, 1)", 3),
    ("sinew_embedding_compute_points", "surface_points"): ("SIZE(self_handle, 0)", 3),
    ("sinew_embedding_compute_normals", "surface_points"): ("SIZE(self_handle, 0)", 3),
    ("sinew_embedding_compute_normals", "normals"): ("SIZE(self_handle, 0)", 3),
    ("sinew_pbd_get_positions", "positions"): ("SIZE(self_handle, 0)", 3),
    ("sinew_pbd_get_velocities", "velocities"): ("SIZE(self_handle, 0)", 3),
    ("sinew_pbd_set_state", "positions"): ("SIZE(self_handle, 0)", 3),
    ("sinew_pbd_set_state", "velocities"): ("SIZE(self_handle, 0)", 3),
    ("sinew_pbd_step", "targets"): ("SIZE(self_handle, 0)", 3),
    ("sinew_pbd_step", "forces"): ("SIZE(self_handle, 0)", 3),
    ("sinew_rig_move_nodes", "world"): ("SIZE(self_handle, 2)", 0),
    ("sinew_rig_move_nodes", "positions"): ("SIZE(self_handle, 0)", 3),
    ("sinew_skin_create_from_weights", "joints"): ("point_count", 4),
    ("sinew_skin_create_from_weights", "weights"): ("point_count", 4),
    ("sinew_skin_compute", "world"): ("SIZE(self_handle, 2)", 0),
    ("sinew_skin_compute", "positions"): ("SIZE(self_handle, 0)", 3),
    ("sinew_body_compute_surface", "positions"): (SURFACE, 3),
    ("sinew_body_compute_surface", "normals"): (SURFACE, 3),
    ("sinew_body_compute_surface_velocities", "velocities"): (SURFACE, 3),
    ("sinew_body_compute_surface_states", "states"): (SURFACE, 0),
    ("sinew_body_set_surface_forces", "forces"): (SURFACE, 3),
    ("sinew_voxels_set_stiffness", "factors"): ("sinew_voxels_get_count(voxels)", 1),
    ("sinew_voxels_set_density", "factors"): ("sinew_voxels_get_count(voxels)", 1),
    ("sinew_voxels_compute_parts", "parts"): ("sinew_voxels_get_count(voxels)", 0),
    ("sinew_voxels_compute_statistics", "statistics"): ("capacity", 0),
    ("sinew_world_take_snapshot", "bytes"): ("(int64_t)sinew_world_get_snapshot_size(world)", 0),
    ("sinew_binding_drive", "pose"): ("SIZE(self_handle, 0)", 0),
    ("sinew_binding_set_pose", "pose"): ("SIZE(self_handle, 0)", 0),
    ("sinew_skeleton_compute_world", "local"): ("sinew_skeleton_joint_count(skeleton)", 0),
    ("sinew_skeleton_compute_world", "world"): ("sinew_skeleton_joint_count(skeleton)", 0),
    ("sinew_skeleton_compute_offsets", "world"): ("sinew_skeleton_joint_count(skeleton)", 0),
    ("sinew_skeleton_compute_offsets", "offsets"): ("sinew_skeleton_joint_count(skeleton)", 0),
    ("sinew_motion_set_frame", "local"): ("sinew_motion_joint_count(motion)", 0),
    ("sinew_motion_sample", "local"): ("sinew_motion_joint_count(motion)", 0),
    ("sinew_reduced_body_get_coordinates", "coordinates"): ("sinew_reduced_body_get_size(body)", 0),
    ("sinew_reduced_body_set_coordinates", "coordinates"): ("sinew_reduced_body_get_size(body)", 1),
    ("sinew_reduction_store", "bytes"): ("(int64_t)sinew_reduction_get_stored_size(reduction)", 0),
    ("sinew_world_get_contacts", "contacts"): ("result", 0),
    ("sinew_world_get_contact_events", "events"): ("result", 0),
}

# Functions that return an array: rows, numbers per row. Those in VIEWS are not copied: their memory stays where it is as long as
# the object exists.
RETURNED = {
    "sinew_binding_get_bound": ("count", 0),
    "sinew_binding_get_joints": ("bound_count(binding)", 0),
    "sinew_binding_get_targets": ("bound_count(binding)", 3),
    "sinew_body_get_rest_positions": (NODES, 3),
    "sinew_body_get_positions": (NODES, 3),
    "sinew_body_get_velocities": (NODES, 3),
    "sinew_field_get_isolated_parts": ("isolated_count(field)", 0),
    "sinew_field_get_axes": ("sinew_field_get_element_count(field)", 9),
    "sinew_field_get_certainties": ("sinew_field_get_element_count(field)", 0),
    "sinew_field_get_quaternions": ("unknown_count(field)", 4),
    "sinew_field_file_get_axes": ("element_count", 9),
    "sinew_picture_get_pixels": ("(int64_t)sinew_picture_get_width(picture) * sinew_picture_get_height(picture)", 3),
    "sinew_tissue_table_get": ("count", 0),
    "sinew_scene_compute_surface": ("scene_points(scene, body)", 3),
    "sinew_specimen_tissues": ("count", 0),
    "sinew_material_presets": ("count", 0),
    "sinew_embedding_get_elements": ("SIZE(self_handle, 0)", 0),
    "sinew_pbd_layers": ("SIZE(self_handle, 1)", 0),
    "sinew_skeleton_rest_local": ("sinew_skeleton_joint_count(skeleton)", 0),
    "sinew_skeleton_rest_world": ("sinew_skeleton_joint_count(skeleton)", 0),
    "sinew_skeleton_bones": ("count", 0),
    "sinew_motion_frame": ("sinew_motion_joint_count(motion)", 0),
    "sinew_rig_element_joints": ("SIZE(self_handle, 1)", 0),
    "sinew_rig_node_joints": ("SIZE(self_handle, 0)", 0),
    "sinew_skin_joints": ("SIZE(self_handle, 0)", 4),
    "sinew_skin_weights": ("SIZE(self_handle, 0)", 4),
    "sinew_body_get_surface_nodes": (SURFACE, 0),
    "sinew_voxels_get_labels": ("sinew_voxels_get_count(voxels)", 0),
    "sinew_voxels_get_cells": ("sinew_voxels_get_count(voxels)", 0),
    "sinew_voxels_get_stiffness": ("sinew_voxels_get_count(voxels)", 0),
    "sinew_voxels_get_density": ("sinew_voxels_get_count(voxels)", 0),
    "sinew_voxels_get_fill": ("sinew_voxels_get_count(voxels)", 0),
}
VIEWS = {"sinew_body_get_rest_positions", "sinew_body_get_positions", "sinew_body_get_velocities", "sinew_picture_get_pixels"}

# Pairs of an array and its number of rows, where the array comes first: numbers per row.
COUNTED = {
    ("sinew_autorig_estimate_error", "frames", "count"): 1,
    ("sinew_body_fix_nodes", "nodes", "count"): 1,
    ("sinew_body_move_nodes", "nodes", "count"): 1,
    ("sinew_body_set_forces", "nodes", "count"): 1,
    ("sinew_field_move_curve", "points", "point_count"): 3,
    ("sinew_place_nodes", "tissues", "tissue_count"): 1,
    ("sinew_json_write_numbers", "values", "count"): 1,
    ("sinew_picture_render", "surfaces", "count"): 1,
    ("sinew_variants_set_points", "points", "count"): 3,
    ("sinew_mesh_locate_points", "points", "count"): 3,
    ("sinew_skeleton_create", "joints", "count"): 1,
    ("sinew_motion_create_from_tracks", "tracks", "track_count"): 1,
    ("sinew_skin_create", "points", "point_count"): 3,
    ("sinew_skin_create_from_weights", "points", "point_count"): 3,
    ("sinew_voxels_create_from_surfaces", "surfaces", "surface_count"): 1,
    ("sinew_voxels_create_from_solids", "solids", "solid_count"): 1,
    ("sinew_words_suggest", "words", "count"): 1,
}

# Lengths that a new handle remembers, because the library has no call for them.
REMEMBERED = {
    "sinew_embedding_create": ("surface->point_count", "mesh->point_count"),
    "sinew_pbd_create": ("mesh->point_count", "mesh->element_count"),
    "sinew_rig_create": ("mesh->point_count", "mesh->element_count", "sinew_skeleton_joint_count(skeleton)"),
    "sinew_skin_create": ("point_count", "0", "sinew_skeleton_joint_count(skeleton)"),
    "sinew_skin_create_from_weights": ("point_count", "0", "sinew_skeleton_joint_count(skeleton)"),
    "sinew_binding_create": ("sinew_skeleton_joint_count(skeleton)",),
    "sinew_character_get_skin": ("sinew_character_get_mesh(character) ? sinew_character_get_mesh(character)->point_count : 0", "0",
                                 "sinew_skeleton_joint_count(sinew_character_get_skeleton(character))"),
}

# Arrays in definitions whose length depends on other arguments: (function, argument, path): rows, numbers per row.
FRAMES_OR_NODES = "sinew_body_get_node_count(body) > 0 ? sinew_body_get_node_count(body) : sinew_frame_body_get_node_count(body)"
CHECKS = {
    ("sinew_binding_create", "def", "joints"): (FRAMES_OR_NODES, 1),
    ("sinew_frame_body_create", "def", "weights.values"): ("def->voxels ? sinew_voxels_get_count(def->voxels) : 0", "def->node_count"),
    ("sinew_pbd_create", "def", "tet_materials"): ("mesh ? mesh->element_count : 0", 1),
    ("sinew_pbd_create", "def", "frames"): ("mesh ? mesh->element_count : 0", 9),
    ("sinew_pbd_create", "def", "kinematic"): ("mesh ? mesh->point_count : 0", 1),
    ("sinew_pbd_create", "def", "cores"): ("mesh ? mesh->element_count : 0", 1),
    ("sinew_pbd_body_create", "def", "pbd.tet_materials"): ("def->mesh ? def->mesh->element_count : 0", 1),
    ("sinew_pbd_body_create", "def", "pbd.frames"): ("def->mesh ? def->mesh->element_count : 0", 9),
    ("sinew_pbd_body_create", "def", "pbd.cores"): ("def->mesh ? def->mesh->element_count : 0", 1),
    ("sinew_mesh_write", "def", "point_values.values"): ("mesh ? mesh->point_count : 0", "components"),
    ("sinew_mesh_write", "def", "element_values.values"): ("mesh ? mesh->element_count : 0", "components"),
    ("sinew_mesh_save", "def", "point_values.values"): ("mesh ? mesh->point_count : 0", "components"),
    ("sinew_mesh_save", "def", "element_values.values"): ("mesh ? mesh->element_count : 0", "components"),
}

# Objects that belong to their world; the others are destroyed with their last reference.
BELONG_TO_WORLD = {"sinew_body", "sinew_obstacle", "sinew_attachment", "sinew_rigid_joint", "sinew_glue", "sinew_point"}
DIE_WITH_BODIES = {"sinew_attachment", "sinew_rigid_joint", "sinew_glue", "sinew_point"}
DESTROY = {"sinew_file": "sinew_file_close", "sinew_mesh": "sinew_mesh_destroy"}

# Functions without a counterpart, with the reason.
FUNCTIONS_LEFT_OUT = {
    "sinew_context_destroy": "destroy()", "sinew_mesh_destroy": "destroyed with its last reference",
    "sinew_body_set_user": "bodies are Python objects with attributes of their own", "sinew_body_get_user": "the same",
    "sinew_output_write": "takes part of a file; use bytes_save", "sinew_output_write_part": "the same",
    "sinew_output_create": "the same", "sinew_output_flush": "the same", "sinew_output_get_temporary": "the same",
}
