"""A Weaviate server in a few lines: the calls that our adapter makes through the real client, answered from memory."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from uuid import UUID

import grpc
import numpy as np
from weaviate.proto.v1 import (
    aggregate_pb2,
    batch_delete_pb2,
    batch_pb2,
    health_weaviate_pb2,
    properties_pb2,
    search_get_pb2,
    weaviate_pb2_grpc,
)

_SERVING = 1


class StandIn(weaviate_pb2_grpc.WeaviateServicer):  # type: ignore[misc]
    """Objects by collection and id; a filter is always "one of these ids"."""

    def __init__(self) -> None:
        self.schema: dict[str, Any] = {}
        self.objects: dict[str, dict[str, tuple[int, np.ndarray]]] = {}
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        Thread(target=self._http.serve_forever, daemon=True).start()
        self._grpc = grpc.server(ThreadPoolExecutor(4))
        weaviate_pb2_grpc.add_WeaviateServicer_to_server(self, self._grpc)
        health = grpc.unary_unary_rpc_method_handler(
            lambda request, context: health_weaviate_pb2.WeaviateHealthCheckResponse(status=_SERVING),
            request_deserializer=health_weaviate_pb2.WeaviateHealthCheckRequest.FromString,
            response_serializer=health_weaviate_pb2.WeaviateHealthCheckResponse.SerializeToString,
        )
        service = grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": health})
        self._grpc.add_generic_rpc_handlers((service,))
        self.grpc_port = self._grpc.add_insecure_port("127.0.0.1:0")
        self._grpc.start()

    @property
    def spec(self) -> str:
        return f"weaviate:http://127.0.0.1:{self._http.server_port}#grpc_port={self.grpc_port}"

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._grpc.stop(0).wait()

    def BatchObjects(self, request: Any, context: object) -> Any:
        for each in request.objects:
            packed = each.vectors[0].vector_bytes if each.vectors else each.vector_bytes
            row = int(each.properties.non_ref_properties["row"])
            self.objects[each.collection][each.uuid] = (row, np.frombuffer(packed, "<f4"))
        return batch_pb2.BatchObjectsReply()

    def BatchDelete(self, request: Any, context: object) -> Any:
        there = self.objects[request.collection]
        gone = [each for each in request.filters.value_text_array.values if there.pop(each, None) is not None]
        return batch_delete_pb2.BatchDeleteReply(successful=len(gone), matches=len(gone))

    def Aggregate(self, request: Any, context: object) -> Any:
        single = aggregate_pb2.AggregateReply.Single(objects_count=len(self.objects[request.collection]))
        return aggregate_pb2.AggregateReply(single_result=single)

    def Search(self, request: Any, context: object) -> Any:
        there = self.objects[request.collection]
        names = sorted(there)
        if request.HasField("filters"):
            wanted = set(request.filters.value_text_array.values)
            names = [name for name in names if name in wanted]
        if request.after:
            names = [name for name in names if name > request.after]
        if request.HasField("near_vector"):
            near = request.near_vector
            query = np.frombuffer(near.vectors[0].vector_bytes if near.vectors else near.vector_bytes, "<f4")
            names.sort(key=lambda name: -float(there[name][1] @ query))
        return search_get_pb2.SearchReply(results=[_result(name, *there[name]) for name in names[: request.limit]])


def _result(name: str, row: int, vector: np.ndarray) -> Any:
    fields = properties_pb2.Properties(fields={"row": properties_pb2.Value(int_value=row)})
    metadata = search_get_pb2.MetadataResult(
        id=name, id_as_bytes=UUID(name).bytes, vector_bytes=vector.astype("<f4").tobytes()
    )
    return search_get_pb2.SearchResult(
        properties=search_get_pb2.PropertiesResult(non_ref_props=fields), metadata=metadata
    )


def _handler(server: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/v1/schema/"):
                known = server.schema.get(self.path.rsplit("/", 1)[1])
                self._answer(known or {}, 200 if known else 404)
            elif "openid" in self.path:
                self._answer({}, 404)
            else:
                self._answer({"version": "1.34.0", "hostname": "stand-in", "modules": {}})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.schema[body["class"]] = body
            server.objects[body["class"]] = {}
            self._answer(body)

        def _answer(self, body: object, status: int = 200) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            return

    return Handler
