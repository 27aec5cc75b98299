package javaobj

import "fmt"

// class reads a class descriptor, a reference to one, or null (0).
func (p *parser) class(what string) uint32 {
	at := p.c.Off()
	if !p.ok() {
		return 0
	}
	id := p.content(false)
	if p.aborted && p.c.Err() == nil { // what it is of cannot be told, nor written again
		p.fail(at, what, "an exception that ended it")
	}
	if !p.ok() || id == nullNode {
		return 0
	}
	n := &p.s.nodes[id]
	if n.kind != Descriptor || !p.s.classes[n.class].complete {
		found := n.kind.String()
		if n.kind == Descriptor {
			found = "a class descriptor that is not complete yet"
		}
		p.fail(at, what, found)
		return 0
	}
	return n.class
}

func (p *parser) descriptor(tag byte, at int64) uint32 {
	id := p.add(Descriptor, at)
	c := &Class{node: id, index: uint32(len(p.s.classes)), Proxy: tag == tcProxyClassDesc}
	if len(p.s.classes) >= maxClasses {
		p.fail(at, "fewer classes", fmt.Sprintf("more than %d", maxClasses))
		return nullNode
	}
	p.s.classes = append(p.s.classes, c)
	p.s.nodes[id].class = c.index
	kids := len(p.kids)
	if c.Proxy {
		p.handle(id)
		p.interfaces(c)
	} else {
		c.Name = p.c.UTF("class name")
		c.UID = p.c.I64("serialVersionUID")
		p.handle(id)
		p.classFields(c)
	}
	p.c.Enter("descriptor of "+c.ShortName(), -1)
	p.annotation()
	if p.ok() {
		super := p.class("super class")
		c.Super = p.s.classes[super]
		if super != 0 {
			p.kids = append(p.kids, c.Super.node)
		} else {
			p.kids = append(p.kids, nullNode)
		}
		p.complete(c, at)
	}
	p.c.Leave()
	p.close(id, kids, len(p.prims))
	return id
}

// complete is called once the super class is known.
func (p *parser) complete(c *Class, at int64) {
	if !p.ok() {
		return
	}
	c.depth = 1
	if c.Super != nil {
		c.depth = c.Super.depth + 1
		c.parts = c.Super.parts
	}
	if c.depth > maxHierarchy {
		p.fail(at, fmt.Sprintf("at most %d super classes", maxHierarchy), "more")
		return
	}
	c.NoFields = p.noFields[c.Name] && c.custom()
	c.layout()
	if c.writes() {
		c.parts = append(c.parts[:len(c.parts):len(c.parts)], c)
	}
	c.complete = true
}

func (p *parser) interfaces(c *Class) {
	n := p.c.Count("number of interfaces", 2)
	if p.fields += n; p.fields > maxFields {
		p.fail(p.c.Off(), "fewer interfaces", fmt.Sprint(n))
	}
	for range n {
		name := p.c.UTF("interface name")
		if p.c.Err() != nil {
			return
		}
		c.Interfaces = append(c.Interfaces, name)
	}
}

func (p *parser) classFields(c *Class) {
	at := p.c.Off()
	c.Flags = p.c.U8("class flags")
	if p.c.Err() == nil && c.Flags&(flagSerializable|flagExternalizable) == flagSerializable|flagExternalizable {
		p.fail(at, "class flags", fmt.Sprintf("0x%02X, serializable and externalizable", c.Flags))
	}
	n := int(p.c.U16("number of fields"))
	if p.fields += n; p.fields > maxFields {
		p.fail(at, "fewer fields", fmt.Sprintf("more than %d", maxFields))
	}
	for range n {
		if !p.ok() {
			return
		}
		at := p.c.Off()
		f := Field{Type: p.c.U8("field type"), Name: p.c.UTF("field name")}
		switch {
		case p.c.Err() != nil:
			return
		case f.Type == 'L' || f.Type == '[':
			sigAt := p.c.Off()
			sig := p.content(false)
			if p.ok() && p.s.nodes[sig].kind != String {
				p.fail(sigAt, "the type of field "+f.Name, p.s.nodes[sig].kind.String())
			}
			p.kids = append(p.kids, sig)
		case primSize(f.Type) == 0:
			p.fail(at, "field type", fmt.Sprintf("0x%02X", f.Type))
		}
		c.Fields = append(c.Fields, f)
	}
}
