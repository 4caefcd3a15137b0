"""The laboratory as a plug-in: its methods, and the filters of panels."""

from council.plugin import Plugin

_METHODS = "council.research.methods"

PLUGIN = Plugin(
    name="research",
    summary="Experimental judging methods, filters, weights and experiments",
    methods={
        "critique": f"{_METHODS}.revision:CRITIQUE",
        "grading": f"{_METHODS}.grading:GRADING",
        "grading:0-100": f"{_METHODS}.grading:GRADING_HUNDRED",
        "grading:binary": f"{_METHODS}.grading:GRADING_BINARY",
        "grading:likert": f"{_METHODS}.grading:GRADING_LIKERT",
        "grading:segments": f"{_METHODS}.grading:GRADING_SEGMENTS",
        "multiple-evidence": f"{_METHODS}.multiple_evidence:MULTIPLE_EVIDENCE",
        "pairwise-elimination": f"{_METHODS}.pairwise_elimination:PAIRWISE_ELIMINATION",
        "peer-discussion": f"{_METHODS}.peer_discussion:PEER_DISCUSSION",
        "peer-review": f"{_METHODS}.revision:PEER_REVIEW",
        "solve-first": f"{_METHODS}.solve_first:SOLVE_FIRST",
        "worst-first": f"{_METHODS}.worst_first:WORST_FIRST",
    },
    offers_methods=False,
    filters=("council.research.filters:FILTERS",),
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
    stores=("bot.research.parts:open_stores",),
    on_export=("bot.research.exports:JudgmentExporter",),
    on_import=("bot.research.exports:ExperimentImporter",),
    services=("bot.research.parts:open_service",),
    pages=("bot.research.web.pages:PAGES",),
)
