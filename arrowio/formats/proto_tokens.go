package formats

import (
	"strings"
)

// text counts the tokens of a .proto file. It does not validate them: the library refuses an
// invalid schema, once the counts have shown that parsing is cheap.
func (b *protoBounds) text(text string) error {
	t := protoTokens{rest: text}
	scopes := []int{0} // lengths of the enclosing full names
	longest, before := 0, ""
	for token := t.next(); token != ""; token = t.next() {
		if before == "import" && token == "public" {
			if err := b.publicImports(1); err != nil {
				return err
			}
		}
		before = token
		top := scopes[len(scopes)-1]
		if err := b.token(len(scopes), len(token)*t.isName(token)); err != nil {
			return err
		}
		switch token {
		case "{", "[", "(", "<":
			scopes = append(scopes, top+longest)
		case "}", "]", ")", ">":
			scopes = scopes[:max(1, len(scopes)-1)]
		case ".": // a qualified name, or a package
		case ";", ",":
		default:
			longest = max(longest, len(token)*t.isName(token))
			continue
		}
		if err := b.element(len(scopes), top, 0); err != nil {
			return err
		}
		longest = 0
	}
	return nil
}

// protoTokens splits a text.
type protoTokens struct{ rest string }

const protoName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// isName returns 1 for a token that can be part of a name.
func (*protoTokens) isName(token string) int {
	if strings.Contains(protoName, token[:1]) {
		return 1
	}
	return 0
}

// next returns the next token: a name or number, a quoted text, or any other byte; "" at the end.
func (t *protoTokens) next() string {
	for {
		t.rest = strings.TrimLeft(t.rest, " \t\r\n\v\f")
		switch {
		case strings.HasPrefix(t.rest, "//"):
			_, t.rest, _ = strings.Cut(t.rest, "\n")
		case strings.HasPrefix(t.rest, "/*"):
			_, t.rest, _ = strings.Cut(t.rest[2:], "*/")
		default:
			return t.token()
		}
	}
}

func (t *protoTokens) token() string {
	n := len(t.rest) - len(strings.TrimLeft(t.rest, protoName))
	if n == 0 && t.rest != "" {
		n = 1
		if quote := t.rest[0]; quote == '"' || quote == '\'' {
			n = quoted(t.rest)
		}
	}
	token := t.rest[:n]
	t.rest = t.rest[n:]
	return token
}

// quoted returns the length of the quoted text at the start. A quoted text ends at the end of its
// line.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0], '\n':
			return i + 1
		}
	}
	return len(text)
}
