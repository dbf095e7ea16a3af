"""Requests made up from the OpenAPI description, right ones and wrong ones.

The server never fails, and answers as it says.
"""

from __future__ import annotations

from typing import Any, Final

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from starlette.testclient import TestClient

from monopoly_table.app import routes
from tests.monopoly_table.clients import begin, host

described = FastAPI()
described.include_router(routes)
OPERATIONS: Final = [
    found.ok()
    for found in schemathesis.openapi.from_asgi("/openapi.json", described).get_all_operations()
]
CASES: Final = 10  # of a kind; 150 found no more
BOUNDED: Final = settings(
    max_examples=CASES,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
CHECKS: Final = schemathesis.checks.CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
    ]
)


def test_the_server_gives_its_description(client: TestClient) -> None:
    told = client.get("/api/openapi.json").json()
    assert {
        f"{method.upper()} {path}" for path, methods in told["paths"].items() for method in methods
    } == {operation.label for operation in OPERATIONS}


def kinds(operation: Any) -> list[GenerationMode]:
    """Right requests, and wrong ones where there is something to get wrong."""
    return (
        list(GenerationMode)
        if operation.path_parameters or operation.body
        else [GenerationMode.POSITIVE]
    )


@pytest.mark.parametrize(
    ("operation", "kind"),
    [(operation, kind) for operation in OPERATIONS for kind in kinds(operation)],
    ids=lambda value: getattr(value, "label", None) or value.value,
)
def test_any_request_is_answered_as_described(
    client: TestClient, operation: Any, kind: GenerationMode
) -> None:
    game = begin(client, "person", "guest")["game"]

    @BOUNDED
    @given(operation.as_strategy(generation_mode=kind))
    def ask(case: Any) -> None:
        check(client, case)
        if "game" in case.path_parameters and case.method != "DELETE":
            case.path_parameters["game"] = game
            check(client, case)

    ask()


def check(client: TestClient, case: Any) -> None:
    sent = case.as_transport_kwargs(base_url=str(client.base_url), headers=host(client))
    sent.pop("cookies")
    if isinstance(sent.get("data"), bytes):
        sent["content"] = sent.pop("data")
    case.validate_response(client.request(**sent), checks=CHECKS)
