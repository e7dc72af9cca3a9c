CREATE TABLE public.api_key (
    id integer NOT NULL,
    customer_id integer NOT NULL,
    hash text NOT NULL,
    prefix text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_on date,
    revoked_at timestamp with time zone,
    CONSTRAINT api_key_created_at_check CHECK (((created_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (created_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT api_key_expires_on_check CHECK (((expires_on >= '0001-01-01'::date) AND (expires_on <= '9999-12-31'::date))),
    CONSTRAINT api_key_revoked_at_check CHECK (((revoked_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (revoked_at < '10000-01-01 00:00:00+00'::timestamp with time zone)))
);
CREATE SEQUENCE public.api_key_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.api_key_id_seq OWNED BY public.api_key.id;
CREATE TABLE public.article (
    pk integer NOT NULL,
    customer_id integer NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    slug text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    published_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    views bigint NOT NULL,
    title text NOT NULL,
    folded_title text NOT NULL COLLATE pg_catalog."C",
    search_text text NOT NULL COLLATE pg_catalog."C",
    banner_url text NOT NULL,
    category text NOT NULL,
    keywords text NOT NULL,
    meta_title text NOT NULL,
    meta_desc text NOT NULL,
    read_time double precision NOT NULL,
    content_html text NOT NULL,
    schema_markup text,
    origin text COLLATE pg_catalog."C",
    claim text,
    claimed_at timestamp with time zone,
    edited boolean DEFAULT false NOT NULL,
    authors text DEFAULT '[]'::text NOT NULL,
    CONSTRAINT article_authors_check CHECK ((jsonb_typeof((authors)::jsonb) = 'array'::text)),
    CONSTRAINT article_check CHECK (((status = ANY (ARRAY['draft'::text, 'pending'::text])) OR ((status = 'published'::text) AND (published_at IS NOT NULL)))),
    CONSTRAINT article_claim_check CHECK ((claim = ANY (ARRAY['published'::text, 'withheld'::text]))),
    CONSTRAINT article_claimed_at_check CHECK (((claimed_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (claimed_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT article_created_at_check CHECK (((created_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (created_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT article_keywords_check CHECK ((jsonb_typeof((keywords)::jsonb) = 'array'::text)),
    CONSTRAINT article_published_at_check CHECK (((published_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (published_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT article_read_time_check CHECK (((read_time >= (0)::double precision) AND (read_time < (1000000)::double precision))),
    CONSTRAINT article_schema_markup_check CHECK ((jsonb_typeof((schema_markup)::jsonb) = 'object'::text)),
    CONSTRAINT article_updated_at_check CHECK (((updated_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (updated_at < '10000-01-01 00:00:00+00'::timestamp with time zone)))
);
CREATE SEQUENCE public.article_pk_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.article_pk_seq OWNED BY public.article.pk;
CREATE TABLE public.customer (
    id integer NOT NULL,
    name text NOT NULL,
    site text DEFAULT ''::text NOT NULL
);
CREATE SEQUENCE public.customer_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.customer_id_seq OWNED BY public.customer.id;
CREATE TABLE public.tables_version (
    number integer NOT NULL
);
ALTER TABLE ONLY public.api_key ALTER COLUMN id SET DEFAULT nextval('public.api_key_id_seq'::regclass);
ALTER TABLE ONLY public.article ALTER COLUMN pk SET DEFAULT nextval('public.article_pk_seq'::regclass);
ALTER TABLE ONLY public.customer ALTER COLUMN id SET DEFAULT nextval('public.customer_id_seq'::regclass);
INSERT INTO public.api_key VALUES (1, 1, '8f3abedec27673fd11edc466caedc30f9f6476c063f7833f3f04f14aaed508ad', 'ver', '2026-01-31 09:30:00+00', NULL, NULL);
INSERT INTO public.article VALUES (1, 1, 'a-1', 'tea', 'published', '2025-03-01 09:30:00.5+00', '2025-01-01 00:00:00+00', '2025-02-01 00:00:00+00', 0, 'Tea', 'tea', 'tea
tea', 'https://www.example.com/t.jpg', 'News', '["tea","ünï"]', 'Tea', 'Tea & milk.', 1, '<p>Tea &amp; milk.</p>', NULL, '?', NULL, NULL, false, '[]');
INSERT INTO public.article VALUES (2, 1, 'a-2', 'script', 'published', '2025-03-02 09:30:00+00', '2025-01-01 00:00:00+00', '2025-04-01 00:00:00.123+00', 0, 'What </Script> does', 'what </script> does', 'what </script> does
script', '', '', '[]', 'What </Script> does', '<!-- x', 2.5, '&lt;!-- x', NULL, '?', NULL, NULL, false, '[]');
INSERT INTO public.article VALUES (3, 1, 'a-3', 'given', 'published', '2025-03-03 09:30:00+00', '2025-01-01 00:00:00+00', '2025-04-01 00:00:00+00', 7, 'Given', 'given', 'given
given', '', '', '[]', 'Given', 'Given', 1, '<p>Given</p>', '{"@context":"https://schema.org","@graph":[{"n":1.0}]}', '?', NULL, NULL, false, '[]');
INSERT INTO public.article VALUES (4, 1, 'a-4', 'draft', 'draft', NULL, '2025-01-01 00:00:00+00', '2025-04-01 00:00:00+00', 0, 'Draft', 'draft', 'draft
draft', '', '', '[]', 'Draft', 'Draft', 1, '<p>Draft</p>', NULL, '?', NULL, NULL, false, '[]');
INSERT INTO public.article VALUES (5, 1, 'a-5', 'later', 'published', '2050-01-01 00:00:00+00', '2025-01-01 00:00:00+00', '2025-04-01 00:00:00+00', 0, 'Later', 'later', 'later
later', '', '', '[]', 'Later', 'Later', 1, '<p>Later</p>', NULL, '?', NULL, NULL, false, '[]');
INSERT INTO public.customer VALUES (1, 'Söhne & <Co>', '');
INSERT INTO public.tables_version VALUES (6);
SELECT pg_catalog.setval('public.api_key_id_seq', 3, true);
SELECT pg_catalog.setval('public.article_pk_seq', 9, true);
SELECT pg_catalog.setval('public.customer_id_seq', 2, true);
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.article
    ADD CONSTRAINT article_customer_id_id_key UNIQUE (customer_id, id);
ALTER TABLE ONLY public.article
    ADD CONSTRAINT article_customer_id_slug_key UNIQUE (customer_id, slug);
ALTER TABLE ONLY public.article
    ADD CONSTRAINT article_pkey PRIMARY KEY (pk);
ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_name_key UNIQUE (name);
ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tables_version
    ADD CONSTRAINT tables_version_pkey PRIMARY KEY (number);
CREATE INDEX article_by_creation ON public.article USING btree (customer_id, status, created_at, id, published_at);
CREATE UNIQUE INDEX article_by_origin ON public.article USING btree (customer_id, origin) WHERE (origin <> '?'::text);
CREATE INDEX article_by_publication ON public.article USING btree (customer_id, status, published_at, id);
CREATE INDEX article_by_slug ON public.article USING btree (customer_id, status, slug, published_at, updated_at);
CREATE INDEX article_by_title ON public.article USING btree (customer_id, status, folded_title, id, published_at);
CREATE INDEX article_by_views ON public.article USING btree (customer_id, status, views, id, published_at);
ALTER TABLE ONLY public.api_key
    ADD CONSTRAINT api_key_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);
ALTER TABLE ONLY public.article
    ADD CONSTRAINT article_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id);
