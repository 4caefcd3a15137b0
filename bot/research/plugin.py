"""The plug-in of the laboratory: methods and reports for researchers of judges."""

from council.plugin import Plugin

PLUGIN = Plugin(
    name="research",
    summary="Judging methods, weights and experiments for researchers of judges.",
    requires=("bakeoffs",),
    cli={
        "lab": ("bot.research.cli.lab:lab_app", "Tools for researchers of judges."),
        "bias of": ("bot.research.cli.bias:of_file", "Measure bias from a file."),
        "bias run": ("bot.research.cli.bias:run_experiment", "Run an experiment."),
        "bias show": ("bot.research.cli.bias:show_experiment", "Show an experiment."),
        "bias list": ("bot.research.cli.bias:list_experiments", "List experiments."),
        # Older names of what `council lab` has.
        "bias perplexity": ("bot.research.cli.bias:show_perplexity", ""),
        "simulate": ("bot.research.cli.simulate:simulate", ""),
        "criteria": ("bot.research.cli.calibrate:criteria", ""),
    },
    stores=("bot.research.services:open_stores",),
    on_export=("bot.research.exports:JudgmentExporter",),
    services=("bot.research.services:open_service",),
)
