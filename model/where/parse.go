package where

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"chkscope/decoder/serde"
)

// parser builds nodes by precedence climbing.
type parser struct {
	tokens []token
	at     int
	depth  int
	uses   []string
}

func (p *parser) next() token { return p.tokens[p.at] }

func (p *parser) fail(want string) error {
	t := p.next()
	found := strconv.Quote(t.text)
	if t.kind == end {
		found = "the end"
	}
	return fmt.Errorf("column %d: %s is wanted, not %s", t.at+1, want, found)
}

// take steps over the next token where it is one of texts (names or symbols).
func (p *parser) take(texts ...string) bool {
	t := p.next()
	if (t.kind == name || t.kind == symbol) && slices.Contains(texts, t.text) {
		p.at++
		return true
	}
	return false
}

// binary operators by precedence; words and symbols of one operator are alike.
var binary = map[string]int{"or": 1, "||": 1, "and": 2, "&&": 2, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4, "not": 4,
	"matches": 4, "contains": 4, "startsWith": 4, "endsWith": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}

const notPrecedence = 3

// expression reads operators that bind at least as tight as least.
func (p *parser) expression(least int) (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("column %d: nested more than %d deep", p.next().at+1, maxDepth)
	}
	defer func() { p.depth-- }()
	left, err := p.unary()
	for err == nil {
		op := p.next()
		prec := binary[op.text]
		if op.kind != name && op.kind != symbol || prec == 0 || prec < least {
			break
		}
		p.at++
		negated := op.text == "not" // x not in y
		if negated && !p.take("in") {
			return nil, p.fail("\"in\" behind \"not\"")
		} else if negated {
			op.text = "in"
		}
		var right node
		if right, err = p.expression(prec + 1); err != nil {
			break
		}
		if left, err = operation(op, left, right); negated && err == nil {
			left = notNode{left}
		}
	}
	return left, err
}

func operation(op token, left, right node) (node, error) {
	switch op.text {
	case "or", "||":
		return logical{true, left, right}, nil
	case "and", "&&":
		return logical{false, left, right}, nil
	case "matches":
		c, ok := right.(constant)
		if !ok || c.v.Form != serde.Text {
			return nil, fmt.Errorf("column %d: behind matches stands a pattern in quotes", op.at+1)
		}
		re, err := regexp.Compile(c.v.Text)
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", op.at+1, err)
		}
		return matchNode{left, re}, nil
	}
	return binaryNode{op.text, left, right}, nil
}

func (p *parser) unary() (node, error) {
	switch {
	case p.take("not", "!"):
		x, err := p.expression(notPrecedence)
		return notNode{x}, err
	case p.take("-"):
		x, err := p.expression(7)
		return binaryNode{"-", constant{serde.Value{Form: serde.Integer}}, x}, err
	}
	x, err := p.primary()
	for err == nil {
		switch {
		case p.take("."):
			t := p.next()
			if t.kind != name {
				return nil, p.fail("a name")
			}
			p.at++
			x = memberNode{x, constant{text(t.text)}}
		case p.take("["):
			var i node
			if i, err = p.expression(0); err != nil {
				return nil, err
			}
			if !p.take("]") {
				return nil, p.fail("]")
			}
			x = memberNode{x, i}
		default:
			return x, nil
		}
	}
	return x, err
}

func (p *parser) primary() (node, error) {
	t := p.next()
	switch {
	case p.take("("):
		x, err := p.expression(0)
		if err == nil && !p.take(")") {
			err = p.fail(")")
		}
		return x, err
	case p.take("["):
		return p.list("]")
	case t.kind == quoted:
		p.at++
		return constant{text(t.text)}, nil
	case t.kind == number:
		p.at++
		return numeral(t)
	case t.kind == name:
		p.at++
		return p.named(t)
	}
	return nil, p.fail("a field or a value")
}

func (p *parser) list(closing string) (node, error) {
	var out listNode
	for !p.take(closing) {
		if len(out) > 0 && !p.take(",") {
			return nil, p.fail(", or " + closing)
		}
		x, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

func numeral(t token) (node, error) {
	if n, err := strconv.ParseInt(t.text, 0, 64); err == nil {
		return constant{serde.Value{Form: serde.Integer, N: n}}, nil
	}
	f, err := strconv.ParseFloat(t.text, 64)
	if err != nil {
		return nil, fmt.Errorf("column %d: %s is no number", t.at+1, t.text)
	}
	return constant{real(f)}, nil
}

func (p *parser) named(t token) (node, error) {
	switch t.text {
	case "true":
		return constant{boolean(true)}, nil
	case "false":
		return constant{boolean(false)}, nil
	case "null", "nil":
		return constant{serde.Value{Form: serde.Null}}, nil
	}
	if p.take("(") {
		f := functions[t.text]
		if f == nil {
			return nil, fmt.Errorf("column %d: no function %s; there are len, lower, upper, text, hex, time", t.at+1, t.text)
		}
		args, err := p.list(")")
		if err != nil {
			return nil, err
		}
		if len(args.(listNode)) != 1 {
			return nil, fmt.Errorf("column %d: %s takes one value", t.at+1, t.text)
		}
		return call{f, args.(listNode)[0]}, nil
	}
	if !slices.Contains(Names, t.text) {
		return nil, fmt.Errorf("column %d: no field %s; there are %s (a text stands in quotes)", t.at+1, t.text, strings.Join(Names, ", "))
	}
	p.uses = append(p.uses, t.text)
	return fieldNode(t.text), nil
}
