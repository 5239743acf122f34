package formats

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/eerf-stream/eerf/arrowio"
)

// protoFiles holds the files of a schema by path. A registry stores them as text, or as the
// serializer sent them: the Python serializer sends a compiled descriptor in base64.
type protoFiles map[string]protocompile.SearchResult

// descriptorFile defines the options; a schema must not replace it.
const descriptorFile = "google/protobuf/descriptor.proto"

// newProtoFiles checks the files of a schema, and refuses files that would take long to link.
func newProtoFiles(schema *Schema) (protoFiles, error) {
	texts := append(slices.Clone(schema.References), Reference{schemaFile, schema.Text})
	files := make(protoFiles)
	b := protoBounds{files: int64(len(texts)) + 1, steps: effort{maxSteps}}
	for _, file := range texts {
		if file.Name == descriptorFile {
			continue
		}
		descriptor, err := storedDescriptor(file.Name, file.Text)
		switch {
		case err != nil:
			return nil, err
		case descriptor != nil:
			err = b.descriptor(descriptor)
			files[file.Name] = protocompile.SearchResult{Proto: descriptor}
		default:
			err = b.text(file.Text)
			files[file.Name] = protocompile.SearchResult{Source: strings.NewReader(file.Text)}
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// FindFileByPath implements [protocompile.Resolver].
func (f protoFiles) FindFileByPath(path string) (protocompile.SearchResult, error) {
	if found, ok := f[path]; ok {
		return found, nil
	}
	return builtIn(path)
}

// storedDescriptor decodes a text as a descriptor in base64; it returns nil for other texts.
func storedDescriptor(path, text string) (*descriptorpb.FileDescriptorProto, error) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, nil
	}
	var descriptor descriptorpb.FileDescriptorProto
	if err := (proto.UnmarshalOptions{RecursionLimit: 4 * MaxDepth}).Unmarshal(raw, &descriptor); err != nil {
		return nil, badSchema(err)
	}
	descriptor.Name = proto.String(path)
	nameFields(descriptor.MessageType)
	return &descriptor, nil
}

// nameFields sets the JSON names of fields, which a descriptor may omit but the compiler requires.
// This package does not read them.
func nameFields(messages []*descriptorpb.DescriptorProto) {
	for _, m := range messages {
		for _, f := range m.Field {
			f.JsonName = proto.String(f.GetName())
		}
		nameFields(m.NestedType)
	}
}

// protoBounds estimates the library's work for the files of a schema. The library computes full
// names, and looks up every name in each enclosing scope of each file: depth × width × files.
type protoBounds struct {
	files     int64
	nameBytes int
	public    int // public imports; names are looked up along each of their paths
	steps     effort
}

const (
	maxProtoDepth    = 2 * MaxDepth // of braces and brackets
	maxPublicImports = 12
)

// token counts a token within the given number of scopes. A name counts with its length.
func (b *protoBounds) token(scopes, name int) error {
	switch {
	case name > maxName:
		return arrowio.Wrap(ErrBadSchema, "a name of %d bytes, at most %d", name, maxName)
	case scopes > maxProtoDepth:
		return arrowio.Wrap(ErrBadSchema, "nested more than %d deep", maxProtoDepth)
	}
	return b.steps.take(tokenSteps)
}

// element counts a named element within scopes. The lengths of their names add up to its full name.
func (b *protoBounds) element(scopes, path, name int) error {
	if err := b.token(scopes, name); err != nil {
		return err
	}
	if b.nameBytes += path + name; b.nameBytes > maxPathBytes {
		return arrowio.Wrap(ErrBadSchema, "full names of more than %d bytes", maxPathBytes)
	}
	return b.steps.take(int64(scopes+1) * b.files)
}

func (b *protoBounds) publicImports(n int) error {
	if b.public += n; b.public > maxPublicImports {
		return arrowio.Wrap(ErrBadSchema, "more than %d public imports", maxPublicImports)
	}
	return nil
}

// descriptor checks a compiled file.
func (b *protoBounds) descriptor(d *descriptorpb.FileDescriptorProto) error {
	if err := b.publicImports(len(d.PublicDependency)); err != nil {
		return err
	}
	scopes, path := strings.Count(d.GetPackage(), ".")+1, len(d.GetPackage())
	if err := b.element(scopes, 0, path); err != nil {
		return err
	}
	for range d.Dependency {
		if err := b.element(scopes, 0, 0); err != nil {
			return err
		}
	}
	if err := b.messages(d.MessageType, scopes, path); err != nil {
		return err
	}
	if err := b.enums(d.EnumType, scopes, path); err != nil {
		return err
	}
	for _, service := range d.Service {
		for range service.Method {
			if err := b.element(scopes+1, path+len(service.GetName()), len(service.GetName())); err != nil {
				return err
			}
		}
	}
	return b.fields(d.Extension, scopes, path)
}

func (b *protoBounds) messages(all []*descriptorpb.DescriptorProto, scopes, path int) error {
	for _, m := range all {
		if err := b.element(scopes, path, len(m.GetName())); err != nil {
			return err
		}
		in := path + len(m.GetName())
		for range len(m.ExtensionRange) + len(m.ReservedRange) + len(m.ReservedName) + len(m.OneofDecl) {
			if err := b.element(scopes+1, in, 0); err != nil {
				return err
			}
		}
		if err := b.fields(slices.Concat(m.Field, m.Extension), scopes+1, in); err != nil {
			return err
		}
		if err := b.enums(m.EnumType, scopes+1, in); err != nil {
			return err
		}
		if err := b.messages(m.NestedType, scopes+1, in); err != nil {
			return err
		}
	}
	return nil
}

func (b *protoBounds) fields(all []*descriptorpb.FieldDescriptorProto, scopes, path int) error {
	for _, f := range all {
		longest := max(len(f.GetName()), len(f.GetTypeName()), len(f.GetExtendee()))
		if err := b.element(scopes, path, longest); err != nil {
			return err
		}
		for range f.GetOptions().GetUninterpretedOption() {
			if err := b.element(scopes, path, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *protoBounds) enums(all []*descriptorpb.EnumDescriptorProto, scopes, path int) error {
	for _, e := range all {
		if err := b.element(scopes, path, len(e.GetName())); err != nil {
			return err
		}
		for _, v := range e.Value {
			if err := b.element(scopes, path, len(v.GetName())); err != nil {
				return err
			}
		}
		for range len(e.ReservedRange) + len(e.ReservedName) {
			if err := b.element(scopes, path, 0); err != nil {
				return err
			}
		}
	}
	return nil
}
