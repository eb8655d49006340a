// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The HTML around the data. The data, names included, is base64, so untrusted text never becomes
 * markup or script; the page's policy allows only its own script, by its hash.
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include <page_hashes.h> /* made by the Makefile */

#include "base/own.h"
#include "flame/page.h"
#include "flame/page_files.h"

static void put_file(struct bytes *bytes, struct page_file file)
{
	bytes_put(bytes, file.start, file.size);
}

static void put_base64(struct bytes *bytes, const unsigned char *from, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (; size > 0; from += 3, size -= size < 3 ? size : 3) {
		uint32_t three = (uint32_t)from[0] << 16 | (size > 1 ? (uint32_t)from[1] << 8 : 0) |
				 (size > 2 ? from[2] : 0);

		bytes_char(bytes, digits[three >> 18]);
		bytes_char(bytes, digits[three >> 12 & 63]);
		bytes_char(bytes, size > 1 ? digits[three >> 6 & 63] : '=');
		bytes_char(bytes, size > 2 ? digits[three & 63] : '=');
	}
}

static void put_head(struct bytes *bytes, const char *policy, const char *style_url)
{
	bytes_string(bytes,
		     "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	bytes_string(bytes, policy);
	bytes_string(bytes,
		     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		     "<meta name=\"referrer\" content=\"no-referrer\">\n"
		     "<title>Flame graph</title>\n<style>");
	put_file(bytes, page_file_page_css());
	bytes_string(bytes, "</style>\n");
	if (style_url) {
		bytes_string(bytes, "<link rel=\"stylesheet\" href=\"");
		bytes_string(bytes, style_url);
		bytes_string(bytes, "\">\n");
	}
	bytes_string(bytes, "</head>\n");
	put_file(bytes, page_file_page_html());
}

static void put_script(struct bytes *bytes)
{
	bytes_string(bytes, "<script>");
	put_file(bytes, page_file_page_js());
	bytes_string(bytes, "</script>\n");
}

/* The policy of pages in files, and of those that a page makes of itself (page/saved.js). */
#define FILE_POLICY                                                                                \
	"content=\"default-src 'none'; script-src 'sha256-" PAGE_JS_SHA256 "'; "                   \
	"style-src 'sha256-" PAGE_CSS_SHA256 "'; base-uri 'none'; form-action 'none'\">\n"

int page_file(const char *data, size_t size, struct bytes *bytes)
{
	uLongf deflated_size = compressBound(size);
	own(own_free) unsigned char *deflated = malloc(deflated_size);

	if (!deflated || compress2(deflated, &deflated_size, (const Bytef *)data, size, 9) != Z_OK)
		return -ENOMEM;
	put_head(bytes, "<meta http-equiv=\"Content-Security-Policy\" " FILE_POLICY, NULL);
	bytes_string(bytes, "<script type=\"application/octet-stream\" id=\"data\">");
	put_base64(bytes, deflated, deflated_size);
	bytes_string(bytes, "</script>\n");
	put_script(bytes);
	bytes_string(bytes, "</body>\n</html>\n");
	return bytes->failed;
}

void page_shell(const char *style_url, const char *script_url, struct bytes *bytes)
{
	put_head(bytes, "<meta name=\"policy-of-files\" " FILE_POLICY, style_url);
	put_script(bytes);
	bytes_string(bytes, "<script src=\"");
	bytes_string(bytes, script_url);
	bytes_string(bytes, "\"></script>\n</body>\n</html>\n");
}

const char *page_policy(void)
{
	return "default-src 'none'; script-src 'self' 'sha256-" PAGE_JS_SHA256 "'; "
	       "style-src 'self' 'sha256-" PAGE_CSS_SHA256
	       "'; connect-src 'self'; base-uri 'none'; "
	       "form-action 'none'; frame-ancestors 'none'";
}
