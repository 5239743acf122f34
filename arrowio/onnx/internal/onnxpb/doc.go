// Package onnxpb has the messages of the ONNX format as Go types.
//
// onnx.proto is the file of ONNX 1.23.2 as published by its project, in the Python package onnx and at
// https://github.com/onnx/onnx/blob/v1.23.2/onnx/onnx.proto, under the Apache License 2.0 (see its head). onnx.pb.go is generated
// from it. For a later version, replace the file, name it here, and run make generate.
package onnxpb

//go:generate go run -C ../../../../internal/tools ./protogo -in ../../arrowio/onnx/internal/onnxpb/onnx.proto -package github.com/eerf-stream/eerf/arrowio/onnx/internal/onnxpb
