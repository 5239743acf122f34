// Command protogo generates the Go types of a .proto file like protoc with protoc-gen-go, without
// needing protoc.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/cmd/protoc-gen-go/internal_gengo"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	in := flag.String("in", "", "`file` to read; the types are written next to it")
	importPath := flag.String("package", "", "import path of the Go package")
	flag.Parse()
	if err := generate(*in, *importPath); err != nil {
		fmt.Fprintln(os.Stderr, "protogo:", err)
		os.Exit(1)
	}
}

// generate writes NAME.pb.go next to NAME.proto, which must not import other files.
func generate(in, importPath string) error {
	file, err := compile(in)
	if err != nil {
		return err
	}
	name := filepath.Base(in)
	plugin, err := protogen.Options{}.New(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{name},
		ProtoFile:      []*descriptorpb.FileDescriptorProto{file},
		Parameter:      proto.String(fmt.Sprintf("paths=source_relative,M%s=%s;%s", name, importPath, path.Base(importPath))),
	})
	if err != nil {
		return err
	}
	generated := internal_gengo.GenerateFile(plugin, plugin.FilesByPath[name])
	content, err := generated.Content()
	if err != nil {
		return err
	}
	return os.WriteFile(strings.TrimSuffix(in, ".proto")+".pb.go", content, 0o644)
}

// compile parses a file, with its comments.
func compile(in string) (*descriptorpb.FileDescriptorProto, error) {
	compiler := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{filepath.Dir(in)}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), filepath.Base(in))
	if err != nil {
		return nil, err
	}
	return protoutil.ProtoFromFileDescriptor(files[0]), nil
}
