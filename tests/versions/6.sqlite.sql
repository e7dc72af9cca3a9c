PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE tables_version (
	number INTEGER NOT NULL, 
	PRIMARY KEY (number)
);
INSERT INTO tables_version VALUES(6);
CREATE TABLE customer (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name TEXT NOT NULL, 
	site TEXT DEFAULT '' NOT NULL, 
	UNIQUE (name), 
	CHECK (typeof(name) IN ('text', 'null')), 
	CHECK (typeof(site) IN ('text', 'null'))
);
INSERT INTO customer VALUES(1,'Söhne & <Co>','');
CREATE TABLE api_key (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	customer_id INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	prefix TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_on DATE, 
	revoked_at DATETIME, 
	FOREIGN KEY(customer_id) REFERENCES customer (id), 
	UNIQUE (hash), 
	CHECK (typeof(hash) IN ('text', 'null')), 
	CHECK (typeof(prefix) IN ('text', 'null')), 
	CHECK (substr(created_at, 1, 19) IS datetime(created_at, '+0 days') AND substr(created_at, 20) NOT GLOB '*[^.0-9]*' AND created_at >= '0001-01-01'), 
	CHECK (expires_on IS date(expires_on, '+0 days') AND expires_on >= '0001-01-01'), 
	CHECK (substr(revoked_at, 1, 19) IS datetime(revoked_at, '+0 days') AND substr(revoked_at, 20) NOT GLOB '*[^.0-9]*' AND revoked_at >= '0001-01-01')
);
INSERT INTO api_key VALUES(1,1,'719591a83865f94ad5aa64abd467235508e87b09c5aaf45c12eb16eabcbe9b8d','ver','2026-01-31 09:30:00',NULL,NULL);
CREATE TABLE article (
	pk INTEGER NOT NULL, 
	customer_id INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	slug TEXT NOT NULL, 
	status TEXT NOT NULL, 
	published_at DATETIME, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	views BIGINT NOT NULL, 
	origin TEXT, 
	claim TEXT, 
	claimed_at DATETIME, 
	edited BOOLEAN DEFAULT 0 NOT NULL, 
	title TEXT NOT NULL, 
	folded_title TEXT NOT NULL, 
	search_text TEXT NOT NULL, 
	banner_url TEXT NOT NULL, 
	category TEXT NOT NULL, 
	keywords TEXT NOT NULL, 
	authors TEXT DEFAULT '[]' NOT NULL, 
	meta_title TEXT NOT NULL, 
	meta_desc TEXT NOT NULL, 
	read_time FLOAT NOT NULL, 
	content_html TEXT NOT NULL, 
	schema_markup TEXT, 
	PRIMARY KEY (pk), 
	UNIQUE (customer_id, id), 
	UNIQUE (customer_id, slug), 
	CHECK (status IN ('draft', 'pending') OR status = 'published' AND published_at IS NOT NULL), 
	CHECK (claim IN ('published', 'withheld')), 
	CHECK (read_time >= 0 AND read_time < 1000000), 
	FOREIGN KEY(customer_id) REFERENCES customer (id), 
	CHECK (typeof(id) IN ('text', 'null')), 
	CHECK (typeof(slug) IN ('text', 'null')), 
	CHECK (typeof(status) IN ('text', 'null')), 
	CHECK (substr(published_at, 1, 19) IS datetime(published_at, '+0 days') AND substr(published_at, 20) NOT GLOB '*[^.0-9]*' AND published_at >= '0001-01-01'), 
	CHECK (substr(created_at, 1, 19) IS datetime(created_at, '+0 days') AND substr(created_at, 20) NOT GLOB '*[^.0-9]*' AND created_at >= '0001-01-01'), 
	CHECK (substr(updated_at, 1, 19) IS datetime(updated_at, '+0 days') AND substr(updated_at, 20) NOT GLOB '*[^.0-9]*' AND updated_at >= '0001-01-01'), 
	CHECK (typeof(origin) IN ('text', 'null')), 
	CHECK (substr(claimed_at, 1, 19) IS datetime(claimed_at, '+0 days') AND substr(claimed_at, 20) NOT GLOB '*[^.0-9]*' AND claimed_at >= '0001-01-01'), 
	CHECK (edited IN (0, 1)), 
	CHECK (typeof(title) IN ('text', 'null')), 
	CHECK (typeof(folded_title) IN ('text', 'null')), 
	CHECK (typeof(search_text) IN ('text', 'null')), 
	CHECK (typeof(banner_url) IN ('text', 'null')), 
	CHECK (typeof(category) IN ('text', 'null')), 
	CHECK (typeof(keywords) IN ('text', 'null')), 
	CHECK (keywords IS NULL OR json_valid(keywords) AND json_type(keywords) = 'array'), 
	CHECK (typeof(authors) IN ('text', 'null')), 
	CHECK (authors IS NULL OR json_valid(authors) AND json_type(authors) = 'array'), 
	CHECK (typeof(meta_title) IN ('text', 'null')), 
	CHECK (typeof(meta_desc) IN ('text', 'null')), 
	CHECK (typeof(content_html) IN ('text', 'null')), 
	CHECK (typeof(schema_markup) IN ('text', 'null')), 
	CHECK (schema_markup IS NULL OR json_valid(schema_markup) AND json_type(schema_markup) = 'object')
);
INSERT INTO article VALUES(1,1,'a-1','own','published','2026-01-31 09:30:00.000000','2026-01-15 00:00:00.000000','2026-01-15 00:00:00.000000',1,NULL,NULL,NULL,0,'Tea 1','tea 1',replace('tea 1\nown','\n',char(10)),'','','["a"]','["Ünï"]','Tea 1','Text 1',2.5,'<p>Text 1</p>','{"@context":"https://schema.org","@graph":[{"n":1.0}]}');
INSERT INTO article VALUES(2,1,'a-2','own-draft','draft',NULL,'2026-01-15 00:00:00.000000','2026-01-15 00:00:00.000000',2,NULL,NULL,NULL,0,'Tea 2','tea 2',replace('tea 2\nown-draft','\n',char(10)),'','','[]','[]','Tea 2','Text 2',1.0,'<p>Text 2</p>',NULL);
INSERT INTO article VALUES(3,1,'a-3','unknown','published','2026-01-31 09:30:00.000000','2026-01-15 00:00:00.000000','2026-01-15 00:00:00.000000',3,'?',NULL,NULL,0,'Tea 3','tea 3',replace('tea 3\nunknown','\n',char(10)),'','','[]','[]','Tea 3','Text 3',1.0,'<p>Text 3</p>',NULL);
INSERT INTO article VALUES(4,1,'a-4','agreed','published','2026-01-31 09:30:00.000000','2026-01-15 00:00:00.000000','2026-01-15 00:00:00.000000',4,'wordpress:example.com/blog/17','published','2026-01-31 09:30:00.000000',0,'Tea 4','tea 4',replace('tea 4\nagreed','\n',char(10)),'','','[]','[]','Tea 4','Text 4',1.0,'<p>Text 4</p>',NULL);
INSERT INTO article VALUES(5,1,'a-5','edited','published','2026-01-31 09:30:00.000000','2026-01-15 00:00:00.000000','2026-01-15 00:00:00.000000',5,'markdown/2026/menu','published','2026-01-31 09:30:00.000000',1,'Tea 5','tea 5',replace('tea 5\nedited','\n',char(10)),'','','[]','[]','Tea 5','Text 5',1.0,'<p>Text 5</p>',NULL);
INSERT INTO article VALUES(6,1,'a-6','waiting','pending','2026-01-31 09:30:00.000000','2026-01-15 00:00:00.000000','2026-01-15 00:00:00.000000',6,'csv/waiting','published','2026-01-31 09:30:00.000000',0,'Tea 6','tea 6',replace('tea 6\nwaiting','\n',char(10)),'','','[]','[]','Tea 6','Text 6',1.0,'<p>Text 6</p>',NULL);
INSERT INTO article VALUES(7,1,'a-7','withheld','pending','2026-01-31 09:30:00.000000','2026-01-15 00:00:00.000000','2026-01-15 00:00:00.000000',7,'csv/withheld','withheld','2026-01-31 09:30:00.000000',0,'Tea 7','tea 7',replace('tea 7\nwithheld','\n',char(10)),'','','[]','[]','Tea 7','Text 7',1.0,'<p>Text 7</p>',NULL);
INSERT INTO article VALUES(8,1,'a-8','hidden-here','draft','2026-01-31 09:30:00.000000','2026-01-15 00:00:00.000000','2026-01-15 00:00:00.000000',8,'csv/hidden-here','published','2026-01-31 09:30:00.000000',0,'Tea 8','tea 8',replace('tea 8\nhidden-here','\n',char(10)),'','','[]','[]','Tea 8','Text 8',1.0,'<p>Text 8</p>',NULL);
INSERT INTO article VALUES(9,1,'a-9','published-here','published','2026-01-31 09:30:00.000000','2026-01-15 00:00:00.000000','2026-01-15 00:00:00.000000',9,'csv/published-here','withheld','2026-01-31 09:30:00.000000',0,'Tea 9','tea 9',replace('tea 9\npublished-here','\n',char(10)),'','','[]','[]','Tea 9','Text 9',1.0,'<p>Text 9</p>',NULL);
INSERT INTO article VALUES(10,1,'a-10','scheduled','published','2998-01-01 00:00:00.000000','2026-01-15 00:00:00.000000','2026-01-15 00:00:00.000000',10,'ghost/1','published','2998-01-01 00:00:00.000000',0,'Tea 10','tea 10',replace('tea 10\nscheduled','\n',char(10)),'','','[]','[]','Tea 10','Text 10',1.0,'<p>Text 10</p>',NULL);
INSERT INTO article VALUES(11,1,'a-11','scheduled-here','published','2998-01-01 00:00:00.000000','2026-01-15 00:00:00.000000','2026-01-15 00:00:00.000000',11,'ghost/2','published',NULL,0,'Tea 11','tea 11',replace('tea 11\nscheduled-here','\n',char(10)),'','','[]','[]','Tea 11','Text 11',1.0,'<p>Text 11</p>',NULL);
INSERT INTO article VALUES(12,1,'a-12','dated-here','published','2026-01-31 09:30:00.000000','2026-01-15 00:00:00.000000','2026-01-15 00:00:00.000000',12,'ghost/3','published','2026-01-15 00:00:00.000000',0,'Tea 12','tea 12',replace('tea 12\ndated-here','\n',char(10)),'','','[]','[]','Tea 12','Text 12',1.0,'<p>Text 12</p>',NULL);
INSERT INTO article VALUES(13,1,'a-13','pending-dated-here','pending','2026-01-31 09:30:00.000000','2026-01-15 00:00:00.000000','2026-01-15 00:00:00.000000',13,'ghost/4','published','2026-01-15 00:00:00.000000',0,'Tea 13','tea 13',replace('tea 13\npending-dated-here','\n',char(10)),'','','[]','[]','Tea 13','Text 13',1.0,'<p>Text 13</p>',NULL);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('customer',2);
INSERT INTO sqlite_sequence VALUES('api_key',2);
CREATE INDEX article_by_creation ON article (customer_id, status, created_at, id, published_at, search_text);
CREATE UNIQUE INDEX article_by_origin ON article (customer_id, origin) WHERE origin <> '?';
CREATE INDEX article_by_slug ON article (customer_id, status, slug, published_at, updated_at);
CREATE INDEX article_by_views ON article (customer_id, status, views, id, published_at, search_text);
CREATE INDEX article_by_publication ON article (customer_id, status, published_at, id, search_text);
CREATE INDEX article_by_title ON article (customer_id, status, folded_title, id, published_at, search_text);
COMMIT;
