package translate

import (
	"path"
	"strings"
)

// media writes an image, a sound, a video or a document.
func (c *contents) media(role string, p *Part) error {
	m := &p.Media
	if m.FileID != "" && m.Origin != OriginGoogle {
		return unsupported("messages[].content[].file_id", "a file in another maker's store cannot be read; send its content or a URL")
	}
	if m.Detail != "" && m.Detail != "auto" {
		c.lost.add("messages[].content[].detail", "Gemini has one detail for all images of a request")
	}
	c.begin(role, false)
	switch {
	case m.Plain != "":
		c.key("text")
		c.text(m.Plain)
	case m.Data != "":
		c.key("inlineData")
		c.open('{')
		c.textMember("mimeType", m.MIME)
		c.textMember("data", m.Data)
		c.close('}')
	default:
		c.key("fileData")
		c.open('{')
		kind := m.MIME
		if kind == "" {
			kind = typeOfURL(m.URL)
		}
		c.textMember("mimeType", kind)
		c.textMember("fileUri", m.URL)
		c.textMember("fileUri", m.FileID)
		c.close('}')
	}
	c.close('}')
	return nil
}

// typeOfURL guesses the media type of a URL by the end of its path; "" if that
// says nothing.
func typeOfURL(url string) string {
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	switch strings.ToLower(path.Ext(url)) {
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".webp":
		return "image/webp"
	case ".gif":
		return "image/gif"
	case ".heic":
		return "image/heic"
	case ".pdf":
		return "application/pdf"
	case ".mp3":
		return "audio/mp3"
	case ".wav":
		return "audio/wav"
	case ".mp4":
		return "video/mp4"
	case ".mov":
		return "video/mov"
	case ".webm":
		return "video/webm"
	case ".txt":
		return "text/plain"
	}
	return ""
}
