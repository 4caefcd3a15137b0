"""The compose file: several processes on one Postgres behind a balancer, of files that are here."""

import re
from typing import Any

import yaml

from bot.runners.local import GRACE_SECONDS
from bot.settings import Settings
from tests.deploy.containerfile import arguments_of, command
from tests.deploy.running import ROOT

FOLDER = ROOT / "deploy"


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
    return dict(found["services"])


def test_the_image_is_built_from_the_container_file() -> None:
    build = services()["council"]["build"]

    assert (FOLDER / build["context"] / build["dockerfile"]).resolve() == ROOT / "Containerfile"
    assert "command" not in services()["council"]
    assert command() == ["council", "serve"]


def test_the_schema_is_upgraded_before_any_process_starts() -> None:
    first = services()["council"]["depends_on"]["release"]["condition"]

    assert services()["release"]["command"] == ["council", "db", "upgrade"]
    assert first == "service_completed_successfully"


def test_processes_share_a_database_and_have_time_to_stop() -> None:
    council = services()["council"]
    url = council["environment"]["COUNCIL_DATABASE_URL"]
    own = re.sub(r"\$\{.*\}", "secret", url)
    settings = Settings.model_validate({"COUNCIL_DATABASE_URL": own})

    assert council["deploy"]["replicas"] > 1
    assert settings.database == "postgresql+psycopg://council:secret@postgres/council"
    assert int(council["stop_grace_period"].removesuffix("s")) > GRACE_SECONDS


def test_the_compose_file_contains_no_secret() -> None:
    text = (FOLDER / "compose.yaml").read_text(encoding="utf-8")

    assert re.findall(r"PASSWORD: (?!\$\{)\S+", text) == []
    assert services()["council"]["env_file"] == "council.env"
    assert "deploy/council.env" in (ROOT / ".gitignore").read_text(encoding="utf-8")


def test_the_balancer_uses_the_port_of_the_processes() -> None:
    text = (FOLDER / "Caddyfile").read_text(encoding="utf-8")
    [port] = arguments_of("EXPOSE")

    assert f"dynamic a council {port}" in text
    assert services()["balancer"]["ports"] == [f"127.0.0.1:{port}:8765"]
    assert text.count(":8765 {") == 1


def test_mounted_files_exist_or_have_an_example() -> None:
    mounted = [
        volume.partition(":")[0]
        for service in services().values()
        for volume in service.get("volumes", ())
        if volume.startswith("./")
    ]

    missing = [name for name in mounted if not (FOLDER / name).exists()]

    assert missing == ["./council.toml", "./council.toml"]
    assert (ROOT / "council.toml.example").exists()
