"""Every address under /api/ (docs/interfaces.md)."""

from django.urls import path, re_path
from drf_spectacular.views import SpectacularJSONAPIView

from memory.api.base import Unknown
from memory.api.docs import Docs
from memory.api.evidence import Facts, OneItem, Records, ReviseItem, Revisions
from memory.api.forests import Export, Forests, Forget, Health, Observe, OneForest, Recall, SampleForest
from memory.api.imports import Import
from memory.api.jobs import CancelJob, Jobs, OneJob, Reembed
from memory.api.me import Me
from memory.api.model import Model, ModelConnection, TestModel
from memory.api.search import SearchForest
from memory.api.states import MoveState, OneState, States
from memory.api.turns import CancelTurn, KeepTurn, OneTurn, RetryTurn, Turns, TurnTrace

urlpatterns = [
    path("me/", Me.as_view(), name="me"),
    path("model/", Model.as_view(), name="model"),
    path("model/connection/", ModelConnection.as_view(), name="model-connection"),
    path("model/test/", TestModel.as_view(), name="test-model"),
    path("forests/", Forests.as_view(), name="forests"),
    path("forests/sample/", SampleForest.as_view(), name="sample-forest"),
    path("forests/<int:forest>/", OneForest.as_view(), name="one-forest"),
    path("forests/<int:forest>/turns/", Turns.as_view(), name="turns"),
    path("forests/<int:forest>/observe/", Observe.as_view(), name="observe"),
    path("forests/<int:forest>/recall/", Recall.as_view(), name="recall"),
    path("forests/<int:forest>/forget/", Forget.as_view(), name="forget"),
    path("forests/<int:forest>/states/", States.as_view(), name="states"),
    path("forests/<int:forest>/facts/", Facts.as_view(), name="facts"),
    path("forests/<int:forest>/records/", Records.as_view(), name="records"),
    path("forests/<int:forest>/revisions/", Revisions.as_view(), name="revisions"),
    path("forests/<int:forest>/search/", SearchForest.as_view(), name="search"),
    path("forests/<int:forest>/health/", Health.as_view(), name="health"),
    path("forests/<int:forest>/export/", Export.as_view(), name="export"),
    path("forests/<int:forest>/import/", Import.as_view(), name="import"),
    path("forests/<int:forest>/reembed/", Reembed.as_view(), name="reembed"),
    path("turns/<int:turn>/", OneTurn.as_view(), name="one-turn"),
    path("turns/<int:turn>/trace/", TurnTrace.as_view(), name="trace"),
    path("turns/<int:turn>/retry/", RetryTurn.as_view(), name="retry-turn"),
    path("turns/<int:turn>/cancel/", CancelTurn.as_view(), name="cancel-turn"),
    path("turns/<int:turn>/keep/", KeepTurn.as_view(), name="keep-turn"),
    path("states/<int:state>/", OneState.as_view(), name="one-state"),
    path("states/<int:state>/move/", MoveState.as_view(), name="move-state"),
    path("items/<str:kind>/<int:item>/", OneItem.as_view(), name="one-item"),
    path("items/<str:kind>/<int:item>/revise/", ReviseItem.as_view(), name="revise-item"),
    path("jobs/", Jobs.as_view(), name="jobs"),
    path("jobs/<int:job>/", OneJob.as_view(), name="job"),
    path("jobs/<int:job>/cancel/", CancelJob.as_view(), name="cancel-job"),
    path("schema/", SpectacularJSONAPIView.as_view(throttle_classes=[]), name="schema"),
    path("docs/", Docs.as_view(), name="api-docs"),
    re_path(r"", Unknown.as_view(), name="unknown"),
]
