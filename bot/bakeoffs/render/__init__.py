"""Renderers of bake-offs, boards, bias reports and schedules."""
